/** Maximum length of caller-supplied text in a log, in characters. */
const most = 200;

/**
 * Writes a URL from a caller, or a part of one, for a log: bounded, and in the characters of URLs (RFC 3986,
 * section 2, without the apostrophe). Other characters become their numbers, so that the text can neither end
 * a line, nor turn the direction of writing, nor be markup where the log is read, and look-alike letters
 * differ.
 */
export function printable(text: string): string {
  const shown = text
    .slice(0, most)
    .replace(
      /[^\w.~:/?#[\]@!$&()*+,;=%-]/gu,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
    );
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
