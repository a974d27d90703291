/** Writes each code unit of a text as a string of JSON may have it: `\u001b`. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

/**
 * Characters that act on a terminal, end a line, turn the direction of writing, or cannot be seen, apart from the two that join
 * letters (U+200C and U+200D).
 */
const controls = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Shows each character that acts on a terminal or on a log as `\u…` of its code units, so that foreign text can do neither.
 * @param kept - characters that stay as they are
 */
export function escapeControls(text: string, kept = ''): string {
  return text.replace(controls, (character) => (kept.includes(character) ? character : escaped(character)));
}

/** Maximum length of caller-supplied text in a log, in characters. */
const most = 200;

/**
 * Writes a URL from a caller, or a part of one, for a log: bounded, and in the characters of URLs (RFC 3986,
 * section 2, without the apostrophe). Other characters become their numbers, so that the text can neither end
 * a line, nor turn the direction of writing, nor be markup where the log is read, and look-alike letters
 * differ.
 */
export function printable(text: string): string {
  const shown = text.slice(0, most).replace(/[^\w.~:/?#[\]@!$&()*+,;=%-]/gu, escaped);
  return text.length > most ? `${shown}... (${text.length} characters)` : shown;
}

/**
 * A whole address, as {@link printable} and without what may be secret in it. Apps that send the address of their own page as
 * a redirect URI send the code in it along.
 */
export function printableUrl(text: string): string {
  const end = text.search(/[?#]/);
  const [address, more] = end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end)];
  const names = more.replace(/#.*/su, '#...').replace(/=[^&#]*/g, '=...');
  return printable(address.replace(/\/\/[^/]*@/, '//...@') + names);
}
