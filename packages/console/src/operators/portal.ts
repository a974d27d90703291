import type { PortalSession } from '@ostiary/core/admin';
import { fill, type Html, html, nameOf } from '@ostiary/core/pages';
import { moment, stateBadge } from '../parts.ts';
import { actForm, asked, type Filled, fieldsOf } from './fields.ts';
import { attempt, type Form, type OperatorContext } from './visit.ts';

/** Rights that a link to the portal (the partner's pages for live data) can give, as the form names them. */
const rights = ['view', 'manage'] as const;

function sessionRow(session: PortalSession, visit: OperatorContext): Html {
  const { slug, urls, voice, words } = visit;
  const { portal: text } = words;
  const { id, madeBy, openedAt, expiresAt } = session;
  const time = (at: string) => moment(at, voice.language);
  const badge = openedAt === null ? stateBadge('pending', text.unused) : stateBadge('enabled', text.open);
  const opened =
    openedAt === null ? null : html` · ${fill(voice.language, text.opened, { time: time(openedAt) })}`;
  return html`<li><p class="what"><strong>${nameOf(madeBy)}</strong> <span>${text[session.rights]} · <code>${id}</code></span> <span>${fill(voice.language, text.ends, { time: time(expiresAt) })}${opened}</span></p>${badge}
${actForm(visit, {
  ...{ action: urls.partner(slug), act: 'end_portal', label: text.end },
  body: html`<input type="hidden" name="session" value="${id}">`,
})}</li>`;
}

/**
 * Shows who may open the portal of a partner (its pages for live data), with the form that makes a link to
 * it. Returns `null` if the service has no portal.
 */
export async function portalPanel(visit: OperatorContext, filled: Filled | null): Promise<Html | null> {
  const { admin, backend, slug, urls, words } = visit;
  const { portal: text } = words;
  if (!backend.hasPortal) return null;
  const sessions = await admin.portal.list(slug);
  const form = fieldsOf(visit, { rights: text.rights }, filled);
  const list =
    sessions.length === 0
      ? html`<p class="muted">${text.none}</p>`
      : html`<ul class="rows">${sessions.map((session) => sessionRow(session, visit))}</ul>`;
  return html`<section class="panel" aria-labelledby="portal"><h2 id="portal">${text.title}</h2>
${list}
${asked(visit, {
  ...{ action: urls.partner(slug), act: 'portal_link', label: text.make, hint: text.hint },
  body: form.select(
    'rights',
    rights.map((right) => [right, text[right]]),
    'view',
  ),
})}</section>`;
}

/**
 * Makes a link to the portal of a partner (its pages for live data), with the rights in the form; `view` if
 * the form names none.
 */
export const makeLink = ({ admin, slug }: OperatorContext, form: Form) =>
  attempt(() =>
    admin.portal.link({ partner: slug, rights: form.get('rights') === 'manage' ? 'manage' : 'view' }),
  );
