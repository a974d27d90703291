import type { Client } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { enabledBadge, facts, moment } from '../parts.ts';
import { asked, type Filled, fieldsOf, formPanel } from './fields.ts';
import { framed } from './frame.ts';
import type { OperatorContext } from './visit.ts';

/** Makes the form that disables or enables a client, with or without a metadata document. */
export function accessAct(visit: OperatorContext, { clientId, disabledAt }: Client): Html | null {
  const action = visit.urls.client(clientId);
  const text = visit.words.clients;
  return disabledAt === null
    ? asked(visit, { action, act: 'disable', label: text.disable, hint: text.disableHint, isFinal: true })
    : asked(visit, { action, act: 'enable', label: text.enable, hint: text.enableHint });
}

/** Shows a list of URIs; `null` if it is empty. */
const uriList = (uris: readonly string[] = []): Html | null =>
  uris.length === 0 ? null : html`${uris.map((uri) => html`<code>${uri}</code> `)}`;

/**
 * Shows a client with a metadata document. Operators cannot change the settings of the client, only disable
 * or enable it.
 */
export function showDocumented(visit: OperatorContext, client: Client, filled: Filled | null): ConsoleAnswer {
  const { urls, voice, words } = visit;
  const { clientId, document, redirectUris, postLogoutRedirectUris, allowedScopes } = client;
  const text = words.clients;
  const row = (name: string, value: Html | null) => (value === null ? null : ([name, value] as const));
  return framed(visit, {
    title: client.name,
    section: 'clients',
    layout: 'one',
    refused: fieldsOf(visit, {}, filled).summary,
    body: html`<section class="panel" aria-label="${words.nav.clients}"><p class="muted">${text.documentsHint}</p>${facts(
      [
        [words.once.clientId, html`<code>${clientId}</code>`],
        [words.state, enabledBadge(client.disabledAt === null, words)],
        document?.claimedName ? [text.claimedName, nameOf(document.claimedName)] : null,
        row(text.redirectUris, uriList(redirectUris)),
        row(text.postLogoutRedirectUris, uriList(postLogoutRedirectUris)),
        [text.scopes, html`<code>${allowedScopes.join(' ')}</code>`],
        [text.idTokenAlg, client.idTokenAlg],
        [words.created, moment(client.createdAt, voice.language)],
        document
          ? [text.readAgain, moment(new Date(document.freshUntil).toISOString(), voice.language)]
          : null,
      ],
    )}
<p class="pages"><a href="${urls.audit({ target: `client:${clientId}` })}">${words.nav.audit}</a> <a href="${urls.clients({ documents: '1' })}">${text.documents}</a></p></section>
${formPanel(visit, { label: words.state, body: accessAct(visit, client) })}`,
  });
}
