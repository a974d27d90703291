import type { AuditEntry } from '@ostiary/core/admin';
import { fillText, type Html, html, nameOf, visible } from '@ostiary/core/pages';
import { ago } from '../parts.ts';
import type { OperatorContext } from './visit.ts';

/** Returns the words for a kind of act, such as "disabled the partner"; `null` for an act without words. */
export function wordsOfAct(
  action: string,
  { acts, voice, words }: Pick<OperatorContext, 'acts' | 'voice' | 'words'>,
): string | null {
  const own = new Map(Object.entries(words.audit.did)).get(action);
  const ofHost = acts.get(action)?.words;
  return own ?? ofHost?.[voice.language] ?? ofHost?.en ?? null;
}

/**
 * Returns the URL of the page of the object in an audit log entry. If such objects have no page, returns the
 * URL of the list of all entries about the object.
 */
function objectUrl({ urls }: OperatorContext, { action, target, details }: AuditEntry): string {
  const [kind = '', ...rest] = target.split(':');
  const id = rest.join(':');
  const partner = typeof details.partner === 'string' ? details.partner : '';
  const mode = details.mode === 'test' ? 'test' : 'live';
  if (kind === 'partner') return urls.partner(id);
  if (kind === 'client') return urls.client(id);
  if (kind === 'user') return urls.user(id);
  if (kind === 'signing_key') return urls.signingKeys();
  if (kind === 'key' && partner !== '') return urls.key(partner, id);
  if (kind === 'event' && partner !== '') return urls.webhooks(partner, { mode, event: id, status: 'every' });
  // A removed endpoint has no page.
  if (kind === 'endpoint' && partner !== '' && action !== 'endpoint.remove')
    return urls.endpoint(partner, id, { mode });
  return urls.audit({ target });
}

/** Shows an audit log entry as a sentence: who did what, with a link to the object. */
export function sentenceOf(entry: AuditEntry, visit: OperatorContext): Html {
  const { actor, role, action, target, details } = entry;
  const did = wordsOfAct(action, visit);
  // The words for an act, such as "disabled the partner", already say what kind of object the target is.
  const id = did === null ? target : target.slice(target.indexOf(':') + 1);
  const isNamedKey = target.startsWith('key:') && typeof details.name === 'string' && details.name !== '';
  const object = isNamedKey ? String(details.name) : id;
  return html`<strong>${nameOf(role === null ? actor : `${actor} (${role})`)}</strong> ${did ?? nameOf(action)} <a href="${objectUrl(visit, entry)}">${nameOf(object)}</a>`;
}

/** Shows how long ago the act of an audit log entry was. */
export const timeOfAct = ({ at }: AuditEntry, { backend, voice }: OperatorContext): Html =>
  ago(at, backend.now(), voice.language);

/** Shows a value that an audit log entry records. */
function shownValue(value: unknown): Html | string {
  if (value === null || value === undefined || value === '') return '—';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
    return html`${value.map((item, index) => html`${index === 0 ? null : html`<br>`}${nameOf(item)}`)}`;
  return nameOf(typeof value === 'string' ? value : visible(JSON.stringify(value)));
}

/**
 * Shows the values that an act changed, collapsed: each new value and, if recorded, the value before. Returns
 * `null` if the entry records no changed value.
 */
export function changesFold({ details }: AuditEntry, { voice, words }: OperatorContext): Html | null {
  const { before, ...set } = details;
  const old =
    typeof before === 'object' && before !== null ? new Map<string, unknown>(Object.entries(before)) : null;
  // Values that were set to what they were are no changes.
  const changes = Object.entries(set).filter(
    ([name, value]) => old === null || JSON.stringify(value) !== JSON.stringify(old.get(name)),
  );
  if (changes.length === 0) return null;
  const text = words.history;
  const row = ([name, value]: (typeof changes)[number]): Html =>
    html`<tr><th scope="row"><code>${visible(name)}</code></th>${old === null ? null : html`<td>${shownValue(old.get(name))}</td>`}<td>${shownValue(value)}</td></tr>`;
  return html`<details><summary class="small">${fillText(voice.language, words.audit.details, { count: changes.length })}</summary><table class="changes"><thead><tr><th scope="col">${text.value}</th>${old === null ? null : html`<th scope="col">${text.before}</th>`}<th scope="col">${text.after}</th></tr></thead>
<tbody>${changes.map(row)}</tbody></table></details>`;
}
