import { createHash } from 'node:crypto';
import { palettes } from './colour.ts';
import { type Html, html, nameOf, render, visible } from './html.ts';
import { initialOf, monogram } from './parts.ts';
import { type PageTheme, stylesheet } from './style.ts';

/** A rendered HTML page, with the hash of its styles. */
export interface Page {
  /** HTML of the whole page. */
  readonly html: string;
  /**
   * Hash of the page's styles for `style-src` of its Content-Security-Policy: `'sha256-…'`, quotes included.
   */
  readonly styleHash: string;
}

export interface PageContext {
  readonly theme: PageTheme;
  /** Language of the page (BCP 47). */
  readonly language: string;
}

const rightToLeft = new Set(['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg']);

/** Renders the start tag `<html>` with the language and its writing direction. */
function root(language: string): Html {
  const { script = '' } = new Intl.Locale(language).maximize();
  return rightToLeft.has(script)
    ? html`<html lang="${language}" dir="rtl">`
    : html`<html lang="${language}">`;
}

/**
 * Returns the URL of a page's icon: the logo, or a data URL. Browsers always request an icon, and pages load
 * nothing from other hosts.
 */
function tabIcon(theme: PageTheme): string {
  if (theme.logo !== undefined) return theme.logo;
  const { brand, onBrand } = palettes(theme.colour).light;
  const tile = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="${brand}"/><text x="20" y="20" text-anchor="middle" dominant-baseline="central" font-family="system-ui, sans-serif" font-size="24" font-weight="700" fill="${onBrand}">${initialOf(theme.name)}</text></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(render(tile))}`;
}

function partsOf(theme: PageTheme) {
  const css = stylesheet(theme);
  const style = html`<style>${css}</style>`;
  // The browser hashes the text in the element, so escaping must not have changed it.
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

function themeParts(theme: PageTheme): ReturnType<typeof partsOf> {
  const parts = partsByTheme.get(theme) ?? partsOf(theme);
  partsByTheme.set(theme, parts);
  return parts;
}

/** Renders the logo of the service or, without a logo, its initial and name, for pages of frame `none`. */
export const brand = (theme: PageTheme): Html => themeParts(theme).brand;

/**
 * Renders an HTML document around a body. `head` is added to the head that every page has. The logo or name
 * of the service is shown above the body (one `main` element), unless `frame` is `none`: then the body fills
 * the window and shows the logo or name itself.
 */
export function page(
  view: PageContext & {
    readonly title: string;
    readonly body: Html;
    readonly head?: Html;
    /**
     * Frame of the page: `brand` shows the service's logo or name above the body, `none` shows only the body.
     * @defaultValue `"brand"`
     */
    readonly frame?: 'brand' | 'none';
    /**
     * URL of a style sheet that replaces the one in the page. Its rules must begin with those of
     * `stylesheet(theme)`.
     */
    readonly styleUrl?: string;
  },
): Page {
  const { theme, language, frame = 'brand', styleUrl } = view;
  const parts = themeParts(theme);
  const body =
    frame === 'none'
      ? html`<body class="bare">
${view.body}`
      : html`<body>
<header class="brand">${parts.brand}</header>
${view.body}`;
  const document = html`<!doctype html>
${root(language)}
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${visible(view.title)} · ${visible(theme.name)}</title>
${parts.head}
${styleUrl === undefined ? parts.style : html`<link rel="stylesheet" href="${styleUrl}">`}${view.head ?? null}
</head>
${body}
</body>
</html>
`;
  return { html: render(document), styleHash: parts.styleHash };
}
