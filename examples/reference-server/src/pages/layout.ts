import { type Html, html, render } from './html.ts';
import type { Style } from './style.ts';
import { type Language, texts } from './texts.ts';

/** What all pages of this server share. */
export interface Look {
  /** Name of the service. */
  readonly name: string;
  readonly style: Style;
}

/** A keyhole, as an icon for browser tabs. */
export function favicon(colour: string, onColour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="${colour}"/><circle cx="20" cy="17" r="6" fill="${onColour}"/><path d="M17.5 20h5l2 11h-9z" fill="${onColour}"/></svg>`;
}

/** What stands for a name where there is no picture. */
export function initialOf(name: string): string {
  return [...name.trim()][0]?.toUpperCase() ?? '•';
}

/** A whole document around the content of its card. */
export function page(
  look: Look,
  language: Language,
  title: string,
  content: Html,
  extraHead: Html | null = null,
): string {
  const t = texts[language];
  const head = render(html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · ${look.name}</title>
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
${extraHead}`);
  const body = render(html`</head>
<body>
<header class="brand"><a href="/"><svg class="tile" viewBox="0 0 40 40" aria-hidden="true"><rect x=".5" y=".5" width="39" height="39" rx="10.5"/><text x="20" y="20" text-anchor="middle" dominant-baseline="central">${initialOf(look.name)}</text></svg>${look.name}</a></header>
<main>
${content}
</main>
<footer>${t.footer}</footer>
</body>
</html>
`);
  return `${head}<style>${look.style.css}</style>\n${body}`;
}
