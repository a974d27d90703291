import type { ConsoleAnswer } from '@ostiary/core/console';
import { type Html, html, nameOf } from '@ostiary/core/pages';
import { facts, moment, stateBadge } from '../parts.ts';
import { seeOther } from '../visit.ts';
import { actForm, asked, type Filled, fieldsOf, formPanel, wrongField } from './fields.ts';
import { framed } from './frame.ts';
import { historyPanel } from './history.ts';
import type { OperatorStaff, StaffAccount, StaffInvitation, StaffRefusal } from './host-staff.ts';
import { newSecrets, showOnce } from './once.ts';
import { type Form, found, type OperatorContext, unknownAct } from './visit.ts';

/**
 * Returns the host application's functions for its staff. @throws PartnerError `not_found` if the application
 * passed none
 */
const hostOf = ({ staff }: OperatorContext): OperatorStaff => found(staff);

function stateOf({ state }: StaffAccount, { words }: OperatorContext): Html {
  if (state === 'active') return stateBadge('enabled', words.users.active);
  return state === 'invited'
    ? stateBadge('pending', words.staff.invited)
    : stateBadge('disabled', words.disabled);
}

const rolesOf = ({ roles }: OperatorStaff) => roles.map((role) => [role, role] as const);

/** Returns the role that was chosen in a form; `null` if the role does not exist. */
const roleIn = (form: Form, { roles }: OperatorStaff): string | null =>
  roles.find((role) => role === form.get('role')) ?? null;

async function show(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { urls, words } = visit;
  const text = words.staff;
  const host = hostOf(visit);
  const people = await host.list();
  const form = fieldsOf(visit, { name: text.name, role: text.role }, filled);
  const row = (person: StaffAccount): Html =>
    html`<li><p class="what"><a href="${urls.staffMember(person.id)}">${nameOf(person.name)}</a> <span>${nameOf(person.role)}</span></p>${stateOf(person, visit)}</li>`;
  return framed(visit, {
    title: words.nav.staff,
    section: 'staff',
    isFirst: true,
    refused: form.summary,
    body: html`<section class="panel" aria-label="${words.nav.staff}"><ul class="rows">${people.map(row)}</ul></section>
${formPanel(visit, {
  id: 'invite',
  label: text.invite,
  body: actForm(visit, {
    ...{ action: urls.staff(), act: 'invite', label: text.invite, primary: true },
    body: html`${form.line('name', text.nameHint)}
${form.select('role', rolesOf(host), host.roles[0] ?? '')}`,
  }),
})}`,
  });
}

/** Lists the people who may open the operators' pages. */
export const staff = (visit: OperatorContext): Promise<ConsoleAnswer> => show(visit, null);

/** Returns the problem of a refused change of the staff, with the form field that it concerns. */
const refusalOf = (form: Form, { refused }: StaffRefusal): Filled =>
  wrongField(form, refused === 'last_owner' ? '' : 'name', `staff_${refused}`);

/** Shows the sign-in link of a staff member once, on the page of that person. */
const linkShown = (visit: OperatorContext, { id, link }: StaffInvitation): Promise<ConsoleAnswer> =>
  showOnce(visit, [['staffLink', link]], (query) => visit.urls.staffMember(id, query));

/** Handles the form that invites a person to the staff. */
export async function inviteStaff(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const host = hostOf(visit);
  const role = roleIn(form, host);
  if (form.get('act') !== 'invite' || role === null) return unknownAct();
  const name = (form.get('name') ?? '').trim();
  const result = await host.invite({ name, role }, visit.admin);
  return 'refused' in result ? show(visit, refusalOf(form, result)) : linkShown(visit, result);
}

/** Returns the staff member whom the URL names. @throws PartnerError `not_found` */
const personOf = async (visit: OperatorContext): Promise<StaffAccount> =>
  found((await hostOf(visit).list()).find(({ id }) => id === visit.id));

async function showOne(visit: OperatorContext, filled: Filled | null): Promise<ConsoleAnswer> {
  const { urls, voice, words } = visit;
  const text = words.staff;
  const host = hostOf(visit);
  const person = await personOf(visit);
  const { id, name, role, state, createdAt } = person;
  const action = urls.staffMember(id);
  const form = fieldsOf(visit, { role: text.role }, filled);
  return framed(visit, {
    title: name,
    section: 'staff',
    refused: form.summary,
    body: html`${await newSecrets(visit, action)}
<section class="panel" aria-label="${words.nav.staff}">${facts([
      [text.role, nameOf(role)],
      [words.state, stateOf(person, visit)],
      [words.created, moment(createdAt.toISOString(), voice.language)],
    ])}</section>
${formPanel(visit, {
  label: words.state,
  body: html`${actForm(visit, { ...{ action, act: 'role', label: text.changeRole }, body: form.select('role', rolesOf(host), role) })}
${state === 'active' ? asked(visit, { action, act: 'end_sessions', label: words.users.endSessions, hint: text.endSessionsHint }) : null}
${asked(visit, { action, act: 'reset', label: text.reset, hint: text.resetHint })}
${state === 'disabled' ? null : asked(visit, { action, act: 'disable', label: text.disable, hint: text.disableHint })}`,
})}
${await historyPanel(visit, { target: `staff:${name}` })}`,
  });
}

/** Shows the page of a person who may open the operators' pages. */
export const staffMember = (visit: OperatorContext): Promise<ConsoleAnswer> => showOne(visit, null);

/**
 * Handles the forms on the page of a staff member: changes the role, ends the sessions, disables the person,
 * or makes a link for a new sign-in.
 */
export async function changeStaff(visit: OperatorContext, form: Form): Promise<ConsoleAnswer> {
  const { admin, urls } = visit;
  const host = hostOf(visit);
  const { id } = await personOf(visit);
  const role = roleIn(form, host);
  const act = form.get('act');
  if (act === 'reset') {
    const result = await host.reset(id, admin);
    return 'refused' in result ? showOne(visit, refusalOf(form, result)) : linkShown(visit, result);
  }
  const calls: readonly (readonly [act: string, notice: string, call: () => Promise<StaffRefusal | null>])[] =
    [
      ['role', 'saved', () => (role === null ? unknownAct() : host.changeRole(id, role, admin))],
      ['disable', 'disabled', () => host.disable(id, admin)],
      ['end_sessions', 'sessionsEnded', () => host.endSessions(id, admin)],
    ];
  const [, notice, call] = calls.find(([name]) => name === act) ?? unknownAct();
  const refusal = await call();
  return refusal === null
    ? seeOther(urls.staffMember(id, { notice }))
    : showOne(visit, refusalOf(form, refusal));
}
