import type { ConsoleAnswer } from '@ostiary/core/console';
import { html, nameOf } from '@ostiary/core/pages';
import { facts, moment, stateBadge } from '../parts.ts';
import { framed } from './frame.ts';
import { found, modeOf, type OperatorContext } from './visit.ts';

/** Shows a logged request to the partner API, without its bodies. */
export async function operatorRequest(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, slug, id, urls, voice, words } = visit;
  const mode = modeOf(visit);
  const { method, route, status, code, createdAt, durationMs, keyId } = found(
    await admin.requests.get({ partner: slug, mode }, id),
  );
  const text = voice.words.requests;
  const failure = code === null ? null : html` <code>${nameOf(code)}</code>`;
  return framed(visit, {
    title: `${method} ${route}`,
    section: 'partners',
    crumbs: [[urls.partner(slug), slug]],
    layout: 'one',
    body: html`<section class="panel" aria-label="${text.title}">${facts([
      [text.status, html`${stateBadge(status < 400 ? 'delivered' : 'dropped', String(status))}${failure}`],
      [text.time, moment(createdAt, voice.language)],
      [text.duration, `${durationMs} ms`],
      [text.id, html`<code>${nameOf(id)}</code>`],
      [text.key, html`<a href="${urls.key(slug, keyId)}"><code>${nameOf(keyId)}</code></a>`],
      [words.mode, words[mode]],
    ])}</section>`,
  });
}
