import { type SearchHit, searchedPerKind } from '@ostiary/core/admin';
import type { ConsoleAnswer } from '@ostiary/core/console';
import { fill, type Html, html, nameOf } from '@ostiary/core/pages';
import { problemRow } from '../frame.ts';
import { seeOther } from '../visit.ts';
import { framed } from './frame.ts';
import { type OperatorContext, parameter } from './visit.ts';

/** Returns the URL of the page of an object that the search found. */
function placeOf(hit: SearchHit, { urls }: OperatorContext): string {
  switch (hit.kind) {
    case 'partner':
      return urls.partner(hit.id);
    case 'client':
      return urls.client(hit.id);
    case 'key':
      return urls.key(hit.partner, hit.id);
    case 'endpoint':
      return urls.endpoint(hit.partner, hit.id, { mode: hit.mode });
    case 'event':
      return urls.webhooks(hit.partner, { mode: hit.mode, status: 'every', event: hit.id });
    case 'delivery':
      return `${urls.webhooks(hit.partner, { mode: hit.mode, status: 'every', event: hit.eventId })}#${hit.id}`;
    case 'request':
      return urls.request(hit.partner, hit.id, { mode: hit.mode });
    case 'transfer':
      return urls.payment(hit.partner, hit.id, { mode: hit.mode });
  }
}

function hitRow(hit: SearchHit, visit: OperatorContext): Html {
  const { voice, words } = visit;
  const title = 'name' in hit && hit.name !== '' ? hit.name : hit.id;
  const { search: text, events } = voice.words;
  const kind = hit.kind === 'endpoint' ? events.endpoint : text.kinds[hit.kind];
  const owner = 'partner' in hit ? html` · ${hit.partner} · ${words[hit.mode]}` : null;
  return html`<li><p class="what"><a href="${placeOf(hit, visit)}">${nameOf(title)}</a> <span>${kind} · <code>${nameOf(hit.id)}</code>${owner}</span></p></li>`;
}

/** Checks whether a search may have found more objects of one kind than it returned. */
const isCut = (hits: readonly SearchHit[]): boolean =>
  hits.some(({ kind }) => hits.filter((hit) => hit.kind === kind).length >= searchedPerKind);

/** Redirects to the page of the object if the search found only one, or lists all that were found. */
export async function search(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, voice } = visit;
  const words = voice.words.search;
  const typed = parameter(visit, 'q') ?? '';
  const { hits, isSecret } = await admin.search(typed);
  const [first] = hits;
  if (first !== undefined && hits.length === 1) return seeOther(placeOf(first, visit));
  const shown = isSecret ? '' : typed;
  const nothing = fill(voice.language, words.nothing, { text: html`<strong>${nameOf(shown)}</strong>` });
  return framed(visit, {
    title: words.title,
    section: null,
    layout: 'one',
    typed: shown,
    refused: isSecret ? problemRow(words.secret) : null,
    body: html`<section class="panel" aria-label="${words.title}">${hits.length > 0 ? html`<ul class="rows">${hits.map((hit) => hitRow(hit, visit))}</ul>` : null}
${isCut(hits) ? html`<p class="small muted">${words.more}</p>` : null}
${hits.length === 0 && shown !== '' ? html`<p>${nothing}</p>` : null}
${hits.length === 0 ? html`<p class="muted">${words.whatOperators}</p>` : null}</section>`,
  });
}
