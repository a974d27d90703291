import type { AuditEntry, AuditSearch } from '@ostiary/core/admin';
import { type Html, html } from '@ostiary/core/pages';
import { moment } from '../parts.ts';
import { changesFold, sentenceOf } from './acts.ts';
import type { OperatorContext } from './visit.ts';

/** Maximum number of an object's own acts in the history on its page. The audit log has the others. */
const shownAtMost = 10;

/**
 * Shows the history of an object from the audit log, newest first: who changed it, when, and how.
 * @param search - narrows the audit log to the object, such as `{ target: 'partner:kafe' }`
 * @param origin - earlier acts on another object, from which this one came; shown after its own acts
 */
export async function historyPanel(
  visit: OperatorContext,
  search: Pick<AuditSearch, 'target' | 'action'>,
  origin: readonly AuditEntry[] = [],
): Promise<Html> {
  const { admin, urls, words } = visit;
  const { entries: own } = await admin.audit.list({ ...search, limit: shownAtMost });
  const entries = [...own, ...origin];
  const text = words.history;
  const row = (entry: AuditEntry): Html =>
    html`<li><div class="what">${sentenceOf(entry, visit)} <span>${moment(entry.at, visit.voice.language)}</span>${changesFold(entry, visit)}</div></li>`;
  const rows =
    entries.length === 0
      ? html`<p class="muted">${text.empty}</p>`
      : html`<ul class="rows">${entries.map(row)}</ul>`;
  return html`<section class="panel across" aria-labelledby="history"><div class="head"><h2 id="history">${text.title}</h2><a href="${urls.audit(search)}">${words.nav.audit}</a></div>
${rows}</section>`;
}
