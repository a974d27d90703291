import { holes } from '../text/placeholders.ts';
import { type Fragment, type Html, html } from './html.ts';

/** A text with what belongs into its braces. */
export function fill(template: string, values: { readonly [name: string]: Fragment }): Html {
  const parts = template.split(holes);
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : (values[part] ?? null)))}`;
}

/** The same for a title, which is no markup. */
export function fillTitle(template: string, values: { readonly [name: string]: string }): string {
  return template
    .split(holes)
    .map((part, index) => (index % 2 === 0 ? part : (values[part] ?? '')))
    .join('');
}
