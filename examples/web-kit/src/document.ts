import { type Html, html, render } from '@ostiary/core/pages';
import type { Style } from './style.ts';

/** Makes a whole HTML document. The icon is a checked URL, or a `data:` URL in the calling program. */
export function document(
  { language, title, icon, style }: { language: string; title: string; icon: string; style: Style },
  { head = null, body }: { readonly head?: Html | null; readonly body: Html },
): string {
  const start = render(html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${icon}" type="image/svg+xml">
${head}`);
  const rest = render(html`</head>
<body>
${body}
</body>
</html>
`);
  return `${start}<style>${style.css}</style>\n${rest}`;
}
