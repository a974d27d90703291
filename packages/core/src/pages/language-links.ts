import type { PageLanguage } from '../languages/page-language.ts';
import { type Html, html } from './html.ts';

/**
 * Renders links to a page in the service's other languages; `null` if the service has one language only.
 * @param pageUrl - URL of the page, which reads the parameter `ui_locales`
 */
export function languageLinks(
  offered: readonly PageLanguage[],
  current: PageLanguage,
  pageUrl: string,
): Html | null {
  if (offered.length < 2) return null;
  const link = ({ tag, texts: { language } }: PageLanguage): Html => {
    if (tag === current.tag) return html`<strong aria-current="true">${language}</strong>`;
    const url = `${pageUrl}${pageUrl.includes('?') ? '&' : '?'}ui_locales=${tag}`;
    return html`<a href="${url}" lang="${tag}" hreflang="${tag}">${language}</a>`;
  };
  return html`<nav class="languages small" aria-label="${current.texts.languages}">${offered.map(link)}</nav>`;
}
