import { negotiateLanguage } from '@ostiary/core/pages';
import { document, type Html, html, initialOf, type Style } from '@ostiary/web-kit';
import type { Context } from 'koa';
import type { Language } from '../settings.ts';
import { texts } from './texts.ts';

/** Layout of all pages of this server. */
export interface Branding {
  readonly name: string;
  readonly languages: readonly Language[];
  readonly style: Style;
}

/**
 * Returns the language of a page, chosen as Ostiary does: first what the app requests (`ui_locales`), then
 * what the browser prefers.
 */
export const languageOf = ({ languages }: Branding, ctx: Context, uiLocales?: string): Language =>
  negotiateLanguage(uiLocales, ctx.get('accept-language'), languages);

/**
 * Makes a coloured square with the initial of a name. With `app`, it stands for an app instead of this
 * service.
 */
export const tileOf = (name: string, kind: '' | ' app' = ''): Html =>
  html`<svg class="tile${kind}" viewBox="0 0 40 40" aria-hidden="true"><rect x=".5" y=".5" width="39" height="39" rx="10.5"/><text x="20" y="20" text-anchor="middle" dominant-baseline="central">${initialOf(name)}</text></svg>`;

/** Makes the icon of pages in the browser: a keyhole. */
export function favicon(colour: string, onColour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="${colour}"/><circle cx="20" cy="17" r="6" fill="${onColour}"/><path d="M17.5 20h5l2 11h-9z" fill="${onColour}"/></svg>`;
}

/** Makes a whole HTML document around the content of its card. */
export function page(
  branding: Branding,
  language: Language,
  title: string,
  content: Html,
  head: Html | null = null,
): string {
  return document(
    { language, title: `${title} · ${branding.name}`, icon: '/favicon.ico', style: branding.style },
    {
      head,
      body: html`<header class="brand"><a href="/">${tileOf(branding.name)}${branding.name}</a></header>
<main class="card">
${content}
</main>
<footer>${texts[language].footer}</footer>`,
    },
  );
}
