/**
 * Functions for building web pages of the service: escaped markup, documents in the service's colours, and
 * texts in several languages. For consoles, and for sign-in pages of a host application that should resemble
 * the consent page.
 *
 * @packageDocumentation
 */
export { negotiateLanguage } from './languages/negotiate.ts';
export { contrast, mix, readableOn, readableText } from './pages/colour.ts';
export { fill, fillText } from './pages/fill.ts';
export { type Fragment, type Html, html, nameOf, render, visible } from './pages/html.ts';
export { brand, type Page, type PageContext, page } from './pages/layout.ts';
export { icons, initialOf } from './pages/parts.ts';
export { type PageTheme, stylesheet } from './pages/style.ts';
