import type { Client } from '@ostiary/core/admin';
import { type ConsoleAnswer, html } from '@ostiary/core/console';
import { moment } from '../parts.ts';
import { seeOther } from '../visit.ts';
import { changedSettings, settingFields, settingsOf, storedSettings } from './clients.ts';
import { actForm, asked, type Filled, facts, textField } from './fields.ts';
import { framed } from './frame.ts';
import { refusedField } from './keys.ts';
import { shownOnce } from './once.ts';
import { enabledBadge } from './partners.ts';
import { attempt, type Form, found, integerOf, type OperatorContext, unknownAct } from './visit.ts';

function acts(client: Client, visit: OperatorContext, filled: Filled | null) {
  const { urls, words } = visit;
  const text = words.clients;
  const action = urls.client(client.clientId);
  const isRotation = filled?.form.get('act') === 'rotate';
  const overlap = { name: 'overlapSeconds', label: text.overlap, hint: text.overlapHint, value: '0' };
  return html`${
    client.public
      ? null
      : asked(visit, {
          ...{ action, act: 'rotate', label: text.rotate, hint: text.rotateHint, isOpen: isRotation },
          body: textField(overlap, isRotation ? filled : null),
        })
  }
${client.logo ? asked(visit, { action, act: 'remove_logo', label: text.removeLogo, hint: text.removeLogoHint }) : null}
${
  client.disabledAt === null
    ? asked(visit, { action, act: 'disable', label: text.disable, hint: text.disableHint, isFinal: true })
    : asked(visit, { action, act: 'enable', label: text.enable, hint: text.enableHint })
}`;
}

async function show(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { admin, id, urls, voice, words } = visit;
  const client = found(await admin.clients.get(id));
  const text = words.clients;
  const ofSettings = filled?.form.get('act') === 'update' ? filled : null;
  return framed(visit, {
    title: client.name,
    section: 'clients',
    refusal: filled?.refusal ?? null,
    body: html`<section class="panel" aria-label="${words.save}">${actForm(visit, {
      action: urls.client(id),
      act: 'update',
      label: words.save,
      primary: true,
      body: settingFields(visit, storedSettings(client), ofSettings),
    })}</section>
<div class="column"><section class="panel" aria-label="${words.nav.clients}">${facts([
      [words.once.clientId, html`<code>${id}</code>`],
      [words.state, enabledBadge(client.disabledAt === null, visit)],
      [text.kind, client.public ? text.isPublic : text.confidential],
      ...(client.public ? [] : [[text.secrets, client.secrets.length] as const]),
      [words.created, moment(client.createdAt, voice.language)],
    ])}
<p class="pages"><a href="${urls.audit({ target: `client:${id}` })}">${words.nav.audit}</a></p></section>
<section class="panel" aria-label="${words.state}">${acts(client, visit, filled)}</section></div>`,
  });
}

/** One client. */
export const client = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

async function rotate(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, id, urls, words } = visit;
  const overlapSeconds = integerOf(form, 'overlapSeconds');
  if (overlapSeconds === null)
    return show(visit, { form, refusal: refusedField('overlapSeconds', words.badNumber) });
  const result = await attempt(() => admin.clients.rotateSecret(id, { overlapSeconds }));
  if ('refusal' in result) return show(visit, { form, ...result });
  const { client, clientSecret } = result.done;
  return shownOnce(visit, {
    title: client.name,
    section: 'clients',
    back: urls.client(id),
    secrets: [
      [words.once.clientId, id],
      [words.once.clientSecret, clientSecret],
    ],
  });
}

/** Changes a client, its secret, its logo, or whether it is let in. */
export async function changeClient(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, id, urls } = visit;
  const stored = found(await admin.clients.get(id));
  const changes = changedSettings(stored, settingsOf(visit, form));
  const calls: { readonly [act: string]: readonly [notice: string, () => Promise<unknown>] } = {
    update: ['saved', () => admin.clients.update(id, changes)],
    remove_logo: ['saved', () => admin.clients.setLogo(id, null)],
    disable: ['disabled', () => admin.clients.disable(id)],
    enable: ['enabled', () => admin.clients.enable(id)],
  };
  const act = form.get('act') ?? '';
  if (act === 'rotate') return rotate(visit, form);
  const [notice, call] = (Object.hasOwn(calls, act) ? calls[act] : undefined) ?? unknownAct();
  if (act === 'update' && Object.keys(changes).length === 0) return seeOther(urls.client(id));
  const result = await attempt(call, 'partner');
  if ('refusal' in result) return show(visit, { form, ...result });
  return seeOther(urls.client(id, { notice }));
}
