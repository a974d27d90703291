import { createHash } from 'node:crypto';
import { palettes } from './colour.ts';
import { type Html, html, nameOf, render, visible } from './html.ts';
import { monogram } from './parts.ts';
import { type PageTheme, stylesheet } from './style.ts';

/** A finished page. */
export interface Page {
  /** The whole document. */
  readonly html: string;
  /**
   * Source that `style-src` of the page's Content-Security-Policy must name: `'sha256-…'`, quotes included.
   */
  readonly styleHash: string;
}

export interface PageContext {
  readonly theme: PageTheme;
  /** BCP 47. */
  readonly language: string;
}

const rightToLeft = new Set(['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg']);

/** The element that the document is, in the direction in which its language is written. */
function root(language: string): Html {
  const { script = '' } = new Intl.Locale(language).maximize();
  return rightToLeft.has(script)
    ? html`<html lang="${language}" dir="rtl">`
    : html`<html lang="${language}">`;
}

/** A data URL, because browsers request an icon, and pages load nothing from elsewhere. */
function tabIcon(theme: PageTheme): string {
  if (theme.logo !== undefined) return theme.logo;
  const { brand, onBrand } = palettes(theme.colour).light;
  const tile = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="${brand}"/><circle cx="20" cy="17" r="6" fill="${onBrand}"/><path d="M17.5 20h5l2 11h-9z" fill="${onBrand}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(render(tile))}`;
}

function partsOf(theme: PageTheme) {
  const css = stylesheet(theme);
  const style = html`<style>${css}</style>`;
  // The browser hashes what stands in the element, so escaping must have changed nothing.
  if (render(style) !== `<style>${css}</style>`)
    throw new TypeError('stylesheet must not contain & < > " or \'');
  const { light, dark } = palettes(theme.colour);
  return {
    style,
    styleHash: `'sha256-${createHash('sha256').update(css).digest('base64')}'`,
    brand:
      theme.logo === undefined
        ? html`${monogram(theme.name, 'service')}<p>${nameOf(theme.name)}</p>`
        : html`<img src="${theme.logo}" alt="${visible(theme.name)}">`,
    head: html`<link rel="icon" href="${tabIcon(theme)}">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${light.canvas}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${dark.canvas}">`,
  };
}

const partsByTheme = new WeakMap<PageTheme, ReturnType<typeof partsOf>>();

/** Puts a body (one `main` element) into a document; `head` follows what every page has in its head. */
export function page(
  view: PageContext & { readonly title: string; readonly body: Html; readonly head?: Html },
): Page {
  const { theme, language } = view;
  const parts = partsByTheme.get(theme) ?? partsOf(theme);
  partsByTheme.set(theme, parts);
  const document = html`<!doctype html>
${root(language)}
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${visible(view.title)} · ${visible(theme.name)}</title>
${parts.head}
${parts.style}${view.head ?? null}
</head>
<body>
<header class="brand">${parts.brand}</header>
${view.body}
</body>
</html>
`;
  return { html: render(document), styleHash: parts.styleHash };
}
