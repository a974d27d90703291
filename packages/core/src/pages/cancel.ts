import type { PageLanguage } from '../languages/page-language.ts';
import { fill } from './fill.ts';
import { html, nameOf } from './html.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { icons } from './parts.ts';

export interface CancelView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  readonly clientName: string;
  /** URL to which the form that returns to the app is posted. */
  readonly action: string;
}

/** Renders a page that asks whether the user wants to return to the app without signing in. */
export function cancelPage({ theme, language, clientName, action }: CancelView): Page {
  const words = language.texts.cancel;
  const client = nameOf(clientName);
  const text = fill(language.tag, words.text, { client: html`<strong>${client}</strong>` });
  const body = html`<main class="card">
<div class="lead"><span class="disc">${icons.leave}</span><h1>${words.title}</h1><p class="muted">${text}</p></div>
<form class="actions" method="post" action="${action}">
<button class="primary">${fill(language.tag, words.back, { client })}</button>
</form>
</main>`;
  return page({ theme, language: language.tag, title: words.title, body });
}
