import { html } from '@ostiary/web-kit';
import type { Context } from 'koa';
import { type Branding, languageOf, page } from './layout.ts';
import { type Texts, texts } from './texts.ts';

const titleAndLead = (t: Texts, status: number): readonly [title: string, lead: string] => {
  if (status === 404) return [t.notFoundTitle, t.notFoundLead];
  if (status === 503) return [t.unavailableTitle, t.unavailableLead];
  return status >= 500 ? [t.failedTitle, t.failedLead] : [t.refusedTitle, t.refusedLead];
};

/** Responds with a page that describes an error and links to the start page. */
export function showError(ctx: Context, branding: Branding, status: number): void {
  const language = languageOf(branding, ctx);
  const [title, lead] = titleAndLead(texts[language], status);
  ctx.status = status;
  if (status === 503) ctx.set('Retry-After', '2');
  ctx.type = 'html';
  const content = html`<h1>${title}</h1>
<p class="lead">${lead}</p>
<a class="button" href="/">${texts[language].back}</a>`;
  ctx.body = page(branding, language, title, content);
}
