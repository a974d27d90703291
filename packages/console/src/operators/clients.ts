import type { Client, ClientSettings } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { enabledBadge } from '../parts.ts';
import { editedValue } from '../shown-values.ts';
import { seeOther } from '../visit.ts';
import { actForm, type Filled, fieldsOf, ticked } from './fields.ts';
import { framed } from './frame.ts';
import { showOnce } from './once.ts';
import { sortedList } from './sorted-list.ts';
import { attempt, type Form, linesOf, type OperatorContext } from './visit.ts';

function clientRow(
  { clientId, name, public: isPublic, disabledAt }: Client,
  { urls, words }: OperatorContext,
): Html {
  const kind = isPublic ? words.clients.isPublic : words.clients.confidential;
  return html`<li><p class="what"><a href="${urls.client(clientId)}">${nameOf(name)}</a> <span><code>${clientId}</code> · ${kind}</span></p>${enabledBadge(disabledAt === null, words)}</li>`;
}

/** Makes the list of the clients that metadata documents describe, sorted by client id. */
const documentList = async (visit: OperatorContext): Promise<Html> =>
  sortedList(visit, {
    read: ({ by: _, descending: __, ...page }) => visit.admin.clients.documents(page),
    count: await visit.admin.clients.countDocuments(),
    rowOf: (client) => clientRow(client, visit),
    urlOf: (query) => visit.urls.clients({ documents: '1', ...query }),
    ...{ empty: visit.words.clients.noDocuments, orders: ['name'] },
  });

/**
 * Shows the list of the clients that administrators created or, with `documents=1` in the query, of the
 * clients with metadata documents.
 */
export async function clients(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, counts, query, urls, words } = visit;
  const documents = query.get('documents') === '1';
  const head = documents
    ? html`<p class="muted">${words.clients.documentsHint}</p><a href="${urls.clients()}">${words.clients.created}</a>`
    : html`${visit.may.includes('clients') ? html`<a href="${urls.newClient()}">${words.clients.add}</a> ` : null}<a href="${urls.clients({ documents: '1' })}">${words.clients.documents}</a>`;
  const list = documents
    ? await documentList(visit)
    : await sortedList(visit, {
        read: (request) => admin.clients.sorted(request),
        count: counts.clients,
        rowOf: (client) => clientRow(client, visit),
        urlOf: urls.clients,
        empty: words.clients.empty,
      });
  return framed(visit, {
    title: words.nav.clients,
    section: 'clients',
    isFirst: true,
    layout: 'one',
    body: html`<section class="panel" aria-label="${words.nav.clients}"><div class="head">${head}</div>
${list}</section>`,
  });
}

/** Settings of a client that the operators' form can change. */
type Settings = Required<ClientSettings>;

const fresh: Settings = {
  ...{
    name: '',
    redirectUris: [],
    loopbackPorts: 'exact',
    allowedScopes: [],
    defaultScope: null,
    optionalScopes: [],
  },
  ...{ requirePkce: false, requireSecret: false, requireDpop: false, requirePushedRequests: false },
  ...{ jwks: null, jwksUri: null, profile: null, refreshWithoutOfflineAccess: false },
  ...{ firstParty: false, resourceServer: false, postLogoutRedirectUris: [] },
  ...{ termsUrl: null, privacyUrl: null },
  ...{ backchannelLogoutUri: null, idTokenAlg: 'RS256', partner: null },
};

/**
 * Returns the settings of a client as they are stored, and of its scopes, in the order of the form, those that
 * the service still has.
 */
export const storedSettings = (client: Client, { admin }: OperatorContext): Settings => ({
  ...fresh,
  ...Object.fromEntries(
    Object.entries(client).filter(([name, value]) => Object.hasOwn(fresh, name) && value !== undefined),
  ),
  allowedScopes: admin.clients.scopes.filter((scope) => client.allowedScopes.includes(scope)),
});

/**
 * Returns the client settings that the operator has changed in the form. Others are not sent, so that changes
 * by another operator or the command line are kept, also those made while the form was open.
 */
export function changedSettings(client: Client, visit: OperatorContext, form: Form): Partial<Settings> {
  const stored = new Map(Object.entries(storedSettings(client, visit)));
  return Object.fromEntries(
    Object.entries(settingsOf(visit, form))
      .map(
        ([name, submitted]) =>
          [name, editedValue(form, name, { submitted, stored: stored.get(name) })] as const,
      )
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(stored.get(name))),
  );
}

/**
 * Labels of the form fields of {@link Settings}, and of the further fields of the form for a new client, in the
 * order of the form.
 */
export const settingLabels = ({ clients: text, name, once }: OperatorContext['words']) => ({
  ...{ name, termsUrl: text.termsUrl, privacyUrl: text.privacyUrl },
  ...{ redirectUris: text.redirectUris, loopbackPorts: text.loopbackPorts, allowedScopes: text.scopes },
  ...{ optionalScopes: text.optionalScopes, defaultScope: text.defaultScope },
  ...{ postLogoutRedirectUris: text.postLogoutRedirectUris },
  ...{ backchannelLogoutUri: text.backchannelLogoutUri, jwks: text.jwks, jwksUri: text.jwksUri },
  ...{ partner: text.partner, idTokenAlg: text.idTokenAlg, profile: text.profile },
  ...{ requirePkce: text.requirePkce, requireSecret: text.requireSecret },
  ...{ requirePushedRequests: text.requirePushedRequests, requireDpop: text.requireDpop },
  ...{ firstParty: text.firstParty, refreshWithoutOfflineAccess: text.refreshWithoutOfflineAccess },
  ...{ resourceServer: text.resourceServer, public: text.public, clientId: once.clientId },
});

/** Makes the form fields of {@link Settings}. */
export function settingFields(
  { admin, backend, words }: OperatorContext,
  settings: Settings,
  form: ReturnType<typeof fieldsOf<keyof ReturnType<typeof settingLabels>>>,
): Html {
  const text = words.clients;
  const profiles = [['', text.noProfile] as const, ['fapi2', 'FAPI 2.0'] as const];
  const algorithms = [['RS256', 'RS256'] as const, ['ES256', 'ES256'] as const];
  return html`${form.line('name', text.nameHint, settings.name)}
${form.line('termsUrl', text.webPageHint, settings.termsUrl ?? '')}
${form.line('privacyUrl', text.webPageHint, settings.privacyUrl ?? '')}
${form.lines('redirectUris', text.redirectUrisHint, settings.redirectUris)}
${form.tick('loopbackPorts', settings.loopbackPorts === 'any')}
${form.ticks('allowedScopes', 'scope', admin.clients.scopes, settings.allowedScopes)}
${form.line('optionalScopes', text.optionalScopesHint, settings.optionalScopes.join(' '))}
${form.line('defaultScope', text.defaultScopeHint, settings.defaultScope ?? '')}
${form.lines('postLogoutRedirectUris', text.postLogoutRedirectUrisHint, settings.postLogoutRedirectUris)}
${form.line('backchannelLogoutUri', backend.allowsPrivateTargets ? text.backchannelLogoutUriHintPrivate : text.backchannelLogoutUriHint, settings.backchannelLogoutUri ?? '')}
${form.lines('jwks', text.jwksHint, settings.jwks === null ? [] : [JSON.stringify(settings.jwks, null, 2)])}
${form.line('jwksUri', backend.allowsPrivateTargets ? text.jwksUriHintPrivate : text.jwksUriHint, settings.jwksUri ?? '')}
${form.line('partner', text.partnerHint, settings.partner ?? '')}
${form.select('idTokenAlg', algorithms, settings.idTokenAlg)}
${form.select('profile', profiles, settings.profile ?? '')}
<fieldset>${form.tick('requirePkce', settings.requirePkce)}
${form.tick('requireSecret', settings.requireSecret)}
${form.tick('requirePushedRequests', settings.requirePushedRequests)}
${form.tick('requireDpop', settings.requireDpop)}
${form.tick('firstParty', settings.firstParty)}
${form.tick('refreshWithoutOfflineAccess', settings.refreshWithoutOfflineAccess)}
${form.tick('resourceServer', settings.resourceServer)}</fieldset>`;
}

/**
 * Reads a JWK Set from a form field. Text that is not JSON becomes a value that is refused with a message
 * beside its field.
 */
function jwksOf(text: string | null): Settings['jwks'] {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return { keys: [] };
  }
}

/** Reads the client settings from a form. */
export function settingsOf({ admin }: OperatorContext, form: Form): Settings {
  const text = (name: string): string | null => {
    const value = (form.get(name) ?? '').trim();
    return value === '' ? null : value;
  };
  return {
    name: form.get('name') ?? '',
    termsUrl: text('termsUrl'),
    privacyUrl: text('privacyUrl'),
    redirectUris: linesOf(form, 'redirectUris'),
    loopbackPorts: form.has('loopbackPorts') ? 'any' : 'exact',
    allowedScopes: ticked(form, 'scope', admin.clients.scopes),
    defaultScope: text('defaultScope'),
    optionalScopes: (text('optionalScopes') ?? '').split(/\s+/).filter(Boolean),
    postLogoutRedirectUris: linesOf(form, 'postLogoutRedirectUris'),
    backchannelLogoutUri: text('backchannelLogoutUri'),
    partner: text('partner'),
    idTokenAlg: form.get('idTokenAlg') === 'ES256' ? 'ES256' : 'RS256',
    requirePkce: form.has('requirePkce'),
    requireSecret: form.has('requireSecret'),
    requirePushedRequests: form.has('requirePushedRequests'),
    jwks: jwksOf(text('jwks')),
    jwksUri: text('jwksUri'),
    requireDpop: form.has('requireDpop'),
    profile: form.get('profile') === 'fapi2' ? 'fapi2' : null,
    firstParty: form.has('firstParty'),
    refreshWithoutOfflineAccess: form.has('refreshWithoutOfflineAccess'),
    resourceServer: form.has('resourceServer'),
  };
}

function showNew(visit: OperatorContext, filled: Filled | null): ConsoleAnswer {
  const { urls, words } = visit;
  const text = words.clients;
  const form = fieldsOf(visit, settingLabels(words), filled);
  return framed(visit, {
    title: text.add,
    section: 'clients',
    layout: 'one',
    refused: form.summary,
    body: html`<section class="panel" aria-label="${text.add}">${actForm(visit, {
      action: urls.newClient(),
      act: 'create',
      label: text.add,
      primary: true,
      body: html`${settingFields(visit, fresh, form)}
${form.tick('public')}
${form.line('clientId', text.clientIdHint)}`,
    })}</section>`,
  });
}

/** Shows the form for a new client. */
export const newClient = async (visit: OperatorContext): Promise<ConsoleAnswer> => showNew(visit, null);

/** Handles the form that creates a client, and redirects to the page of the client. */
export async function createClient(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, urls } = visit;
  const clientId = (form.get('clientId') ?? '').trim();
  const given = {
    ...settingsOf(visit, form),
    public: form.has('public'),
    ...(clientId !== '' && { clientId }),
  };
  const result = await attempt(() => admin.clients.create(given), 'partner');
  if ('problems' in result) return showNew(visit, { form, ...result });
  const { client, clientSecret } = result.done;
  if (clientSecret === null) return seeOther(urls.client(client.clientId, { notice: 'created' }));
  const secrets = [['clientId', client.clientId] as const, ['clientSecret', clientSecret] as const];
  return showOnce(visit, secrets, (query) => urls.client(client.clientId, query));
}
