import type { Client } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html } from '@ostiary/core/pages';
import { enabledBadge, facts, moment } from '../parts.ts';
import { shownField } from '../shown-values.ts';
import { seeOther } from '../visit.ts';
import { changedSettings, settingFields, settingLabels, storedSettings } from './clients.ts';
import { accessAct, showDocumented } from './documented-client.ts';
import { actForm, asked, type Filled, fieldsOf, formPanel, wrongField } from './fields.ts';
import { framed } from './frame.ts';
import { historyPanel } from './history.ts';
import { newSecrets, showOnce } from './once.ts';
import { attempt, type Do, type Form, found, integerOf, type OperatorContext, unknownAct } from './visit.ts';

/** Makes the forms of the actions on a client, with their fields. */
function acts(
  client: Client,
  visit: OperatorContext,
  { overlap, logo }: { readonly overlap: Html; readonly logo: Html },
  refused: string | undefined,
): Html {
  const { urls, words } = visit;
  const text = words.clients;
  const action = urls.client(client.clientId);
  return html`${
    client.public || client.secrets.length > 0 || client.profile === 'fapi2'
      ? null
      : asked(visit, { action, act: 'replace_keys', label: text.replaceKeys, hint: text.replaceKeysHint })
  }${
    client.secrets.length === 0
      ? null
      : asked(visit, {
          ...{
            action,
            act: 'rotate',
            label: text.rotate,
            hint: text.rotateHint,
            isOpen: refused === 'rotate',
          },
          body: overlap,
        })
  }
${asked(visit, {
  ...{ action, act: 'set_logo', label: text.setLogo, hint: text.setLogoHint, takesFile: true },
  ...{ isOpen: refused === 'set_logo', body: logo },
})}
${client.logo ? asked(visit, { action, act: 'remove_logo', label: text.removeLogo, hint: text.removeLogoHint }) : null}
${accessAct(visit, client)}`;
}

/**
 * Makes the form of a client's settings. Operators who may not change them see its fields without a button.
 */
function settingsForm(visit: OperatorContext, body: Html): Html | null {
  if (!visit.mayPost) return html`<fieldset class="form" disabled>${body}</fieldset>`;
  const { id, urls, words } = visit;
  return actForm(visit, { action: urls.client(id), act: 'update', label: words.save, primary: true, body });
}

async function show(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { admin, id, urls, voice, words } = visit;
  const client = found(await admin.clients.get(id));
  if (client.document !== undefined) return showDocumented(visit, client, filled);
  const text = words.clients;
  const refused = filled?.form.get('act');
  const filledIn = (act: string): Filled | null => (refused === act ? filled : null);
  const update = filledIn('update');
  const settings = fieldsOf(visit, settingLabels(words), update);
  const stored = storedSettings(client, visit);
  const rotation = fieldsOf(visit, { overlapSeconds: text.overlap }, filledIn('rotate'));
  const pictures = fieldsOf(visit, { logo: text.logo }, filledIn('set_logo'));
  const fields = {
    overlap: rotation.line('overlapSeconds', text.overlapHint, '0'),
    logo: pictures.file('logo', text.logoHint, 'image/png'),
  };
  return framed(visit, {
    title: client.name,
    section: 'clients',
    refused: settings.summary ?? rotation.summary ?? pictures.summary,
    body: html`${await newSecrets(visit, urls.client(id))}
<section class="panel" aria-label="${words.save}">${settingsForm(visit, html`${shownField(stored, update?.form)}${settingFields(visit, stored, settings)}`)}</section>
<div class="column"><section class="panel" aria-label="${words.nav.clients}">${facts([
      [words.once.clientId, html`<code>${id}</code>`],
      [words.state, enabledBadge(client.disabledAt === null, words)],
      [text.kind, client.public ? text.isPublic : text.confidential],
      client.secrets.length === 0 ? null : [text.secrets, client.secrets.length],
      [words.created, moment(client.createdAt, voice.language)],
    ])}</section>
${formPanel(visit, { label: words.state, body: acts(client, visit, fields, refused) })}</div>
${await historyPanel(visit, { target: `client:${id}` })}`,
  });
}

/** Shows the operators' page of a client. */
export const client = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

/**
 * Issues a client secret. Older secrets keep working for the overlap that the form names, and end at once if
 * it is 0. With the action `replace_keys`, the secret replaces the public keys of the client. Then redirects
 * to the page that shows the secret once.
 */
async function rotate(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, id, urls, words } = visit;
  const replaceKeys = form.get('act') === 'replace_keys';
  const overlapSeconds = replaceKeys ? 0 : integerOf(form, 'overlapSeconds');
  if (overlapSeconds === null) return show(visit, wrongField(form, 'overlapSeconds', words.badNumber));
  const result = await attempt(() => admin.clients.rotateSecret(id, { overlapSeconds, replaceKeys }));
  if ('problems' in result) return show(visit, { form, ...result });
  const { clientSecret } = result.done;
  const secrets = [['clientId', id] as const, ['clientSecret', clientSecret] as const];
  return showOnce(visit, secrets, (query) => urls.client(id, query));
}

/**
 * Handles the forms on the page of a client, which change the settings, the secret or the logo, or enable or
 * disable the client.
 */
export const changeClient: Do = async (visit, form, files) => {
  const { admin, id, urls, words } = visit;
  const stored = found(await admin.clients.get(id));
  const changes = changedSettings(stored, visit, form);
  const calls: { readonly [act: string]: readonly [notice: string, () => Promise<unknown>] } = {
    update: ['saved', () => admin.clients.update(id, changes)],
    set_logo: ['saved', () => admin.clients.setLogo(id, files.get('logo') ?? null)],
    remove_logo: ['saved', () => admin.clients.setLogo(id, null)],
    disable: ['disabled', () => admin.clients.disable(id)],
    enable: ['enabled', () => admin.clients.enable(id)],
  };
  const act = form.get('act') ?? '';
  if (act === 'rotate' || act === 'replace_keys') return rotate(visit, form);
  if (act === 'set_logo' && !files.has('logo')) return show(visit, wrongField(form, 'logo', words.missing));
  const [notice, call] = (Object.hasOwn(calls, act) ? calls[act] : undefined) ?? unknownAct();
  if (act === 'update' && Object.keys(changes).length === 0) return seeOther(urls.client(id));
  const result = await attempt(call, 'partner');
  if ('problems' in result) return show(visit, { form, ...result });
  return seeOther(urls.client(id, { notice }));
};
