/**
 * Kit that the pages of the service are made with: escaped markup, documents in the colours of the service, and texts in several
 * languages. For consoles, and for sign-in pages of a host that look like the consent page.
 *
 * @packageDocumentation
 */
export { negotiateLanguage } from './languages/negotiate.ts';
export { contrast, mix, readableOn, readableText } from './pages/colour.ts';
export { fill, fillText } from './pages/fill.ts';
export { type Fragment, type Html, html, nameOf, render, visible } from './pages/html.ts';
export { type Page, type PageContext, page } from './pages/layout.ts';
export { icons, initialOf } from './pages/parts.ts';
export type { PageTheme } from './pages/style.ts';
