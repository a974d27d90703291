import type { PageLanguage } from '../languages/page-language.ts';
import type { ErrorKind } from '../languages/texts.ts';
import { fill } from './fill.ts';
import { html, nameOf, visible } from './html.ts';
import { type Page, type PageContext, page } from './layout.ts';
import { icons } from './parts.ts';

export type { ErrorKind } from '../languages/texts.ts';

/** App at which the user can start again, to link on an error page. */
export interface AppToReturnTo {
  /** Name of the app, as users see it. */
  readonly name: string;
  /** Root URL of the origin of one of the app's redirect URIs. */
  readonly url: string;
}

export interface ErrorView extends Pick<PageContext, 'theme'> {
  readonly language: PageLanguage;
  readonly kind: ErrorKind;
  /** Technical description of the error for the app's developer, collapsed on the page. */
  readonly detail: string | null;
  /** Id of the request, with which operators find its log lines. */
  readonly requestId: string;
  /** App to which the error page links; `null` for no link. */
  readonly app: AppToReturnTo | null;
}

export function errorPage(view: ErrorView): Page {
  const { theme, language, detail, app } = view;
  const words = language.texts;
  const { title, advice } = words.errors[view.kind];
  const body = html`<main class="card">
<div class="lead"><span class="disc alert">${icons.warning}</span><h1>${title}</h1><p class="muted">${advice}</p></div>
${app === null ? null : html`<p class="actions"><a class="button" href="${app.url}">${fill(language.tag, words.cancel.back, { client: nameOf(app.name) })}</a></p>`}
<div class="technical small">
<p>${words.reference} <code>${visible(view.requestId)}</code></p>
${detail === null ? null : html`<details><summary>${words.technical}</summary><p><code dir="auto">${visible(detail)}</code></p></details>`}
</div>
</main>`;
  return page({ theme, language: language.tag, title, body });
}
