import type { PageLanguage } from '../languages/page-language.ts';
import type { ErrorKind } from '../languages/texts.ts';
import { html, visible } from './html.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { icons } from './parts.ts';

export type { ErrorKind } from '../languages/texts.ts';

export interface ErrorView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  readonly kind: ErrorKind;
  /** Technical words for the developer of the app, folded away from everybody else. */
  readonly detail: string | null;
  /** Leads operators to the log lines of the request. */
  readonly requestId: string;
}

export function errorPage(view: ErrorView): Page {
  const { theme, language, detail } = view;
  const words = language.texts;
  const { title, advice } = words.errors[view.kind];
  const body = html`<main class="card">
<div class="lead"><span class="disc alert">${icons.warning}</span><h1>${title}</h1><p class="muted">${advice}</p></div>
<div class="technical small">
<p>${words.reference} <code>${visible(view.requestId)}</code></p>
${detail === null ? null : html`<details><summary>${words.technical}</summary><p><code dir="auto">${visible(detail)}</code></p></details>`}
</div>
</main>`;
  return page({ theme, language: language.tag, title, body });
}
