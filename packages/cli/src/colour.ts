import { randomInt } from 'node:crypto';
import { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
import { escapeControls } from '@ostiary/core/internal';

/** Destination of a command's output: a stream of Node, or any object that accepts text. */
export interface Outlet {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/**
 * Random numbers that mark this program's colour sequences. Stored or foreign text cannot guess them, so its
 * escape sequences are not taken for colours. They are the first parameters of the sequence and have at most
 * four digits, so `stripVTControlCharacters` (which the help library measures text with) still removes the
 * sequence.
 */
const numbers = Array.from({ length: 4 }, () => randomInt(1000, 10_000)).join(';');
const mark = `\u001b[${numbers};`;
const colours = new RegExp(`(\\u001b\\[${numbers};[0-9;]*m)`);

/** Colours text. The colours appear on a terminal and are removed from any other output. */
export function styled(style: Parameters<typeof styleText>[0], text: string): string {
  if (text === '') return '';
  const [begin = '', end = ''] = styleText(style, '.', { validateStream: false }).split('.');
  const marked = (sequence: string) => sequence.replaceAll('\u001b[', mark);
  return `${marked(begin)}${text}${marked(end)}`;
}

/** Escapes control characters of a text, but keeps the colours of {@link styled}. */
const escapedWith =
  (colour: (sequence: string) => string) =>
  (text: string): string =>
    text
      .split(colours)
      .map((part) => (part.startsWith(mark) ? colour(part) : escapeControls(part)))
      .join('');

/**
 * Converts any text to a single line or table cell: {@link escapeControls}, but the colours of {@link styled}
 * stay.
 */
export const oneLine = escapedWith((sequence) => sequence);

/**
 * Length of a text without its colour sequences, in UTF-16 code units. Tables take this length for the width
 * of the text in columns.
 */
export const widthOf = (text: string): number => stripVTControlCharacters(text).length;

/**
 * Returns a function that writes text, line by line, to a terminal or any other output. All output of
 * commands passes through it, except progress and questions. The text may contain foreign text, such as names
 * of partners, responses of receivers or members of a file, so only the colours of {@link styled} reach the
 * terminal as control characters, and only if `styleText` colours the stream: a terminal, unless `NO_COLOR`
 * is set.
 */
export function writerTo(outlet: Outlet): (text: string) => void {
  const isColoured = outlet instanceof Writable && styleText('bold', '.', { stream: outlet }) !== '.';
  const shown = escapedWith((sequence) => (isColoured ? sequence.replace(mark, '\u001b[') : ''));
  return (text) => void outlet.write(text.split('\n').map(shown).join('\n'));
}
