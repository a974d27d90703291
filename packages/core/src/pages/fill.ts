import { parseMessage } from '../text/messages.ts';
import { type Fragment, type Html, html } from './html.ts';

/** Formats an ICU message as markup. Escapes the message and all values that are not markup already. */
export function fill(language: string, message: string, values: { readonly [name: string]: Fragment }): Html {
  const parts = parseMessage(language, message).formatToParts<Fragment>(values);
  return html`${parts.map(({ value }) => value)}`;
}

/** Formats an ICU message as plain text, for titles and attributes. */
export function fillText(
  language: string,
  message: string,
  values: { readonly [name: string]: string | number | boolean },
): string {
  const parts = parseMessage(language, message).formatToParts<string>(values);
  return parts.map(({ value }) => value).join('');
}
