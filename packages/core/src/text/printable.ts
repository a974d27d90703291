/** Writes each code unit of a text as a JSON escape, such as `\u001b`. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/**
 * Matches characters that control a terminal, end a line, change the writing direction, or are invisible.
 * Does not match U+200C and U+200D, which join letters.
 */
const controls = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Replaces characters that control a terminal or a log with `\u…` escapes, so that text from others can do
 * neither.
 * @param kept - characters that are not escaped
 */
export function escapeControls(text: string, kept = ''): string {
  return text.replace(controls, (character) => (kept.includes(character) ? character : escaped(character)));
}

/** Maximum length of caller-supplied text in a log, in characters. */
const most = 200;

/**
 * Formats a URL that a caller sent, or a part of it, for a log. Limits its length and keeps only URL
 * characters (RFC 3986, section 2, without the apostrophe). Other characters become `\u…` escapes, so that the
 * text cannot end a line, change the writing direction, or act as markup where the log is read, and look-alike
 * letters differ.
 */
export function printable(text: string): string {
  const shown = text.slice(0, most).replace(/[^\w.~:/?#[\]@!$&()*+,;=%-]/gu, escaped);
  return text.length > most ? `${shown}... (${text.length} characters)` : shown;
}

/**
 * Formats a whole URL for a log as {@link printable} does, without parts that may be secret. Apps that send
 * the URL of their own page as a redirect URI include the code in it.
 */
export function printableUrl(text: string): string {
  const end = text.search(/[?#]/);
  const [address, more] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)];
  const names = more.replace(/#.*/su, '#...').replace(/=[^&#]*/g, '=...');
  return printable(address.replace(/\/\/[^/]*@/, '//...@') + names);
}
