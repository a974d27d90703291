import { randomInt } from 'node:crypto';
import { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';
import { escapeControls } from '@ostiary/core/seams';

/** Output of a command line: a stream of Node, or anything else that takes text. */
export interface Outlet {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/**
 * Distinguishes colours of this program from escape sequences in stored or foreign text, which cannot know the numbers. They are the
 * first parameters of the sequence, of four digits at most, so that what measures text (`stripVTControlCharacters`, and with it the
 * library that writes the help) goes on to work.
 */
const numbers = Array.from({ length: 4 }, () => randomInt(1000, 10_000)).join(';');
const mark = `\u001b[${numbers};`;
const colours = new RegExp(`(\\u001b\\[${numbers};[0-9;]*m)`);

/** Colours text. The colours are kept at a terminal, and taken out everywhere else. */
export function styled(style: Parameters<typeof styleText>[0], text: string): string {
  if (text === '') return '';
  const [begin = '', end = ''] = styleText(style, '.', { validateStream: false }).split('.');
  const marked = (sequence: string) => sequence.replaceAll('\u001b[', mark);
  return `${marked(begin)}${text}${marked(end)}`;
}

/** Escapes control characters and keeps the colours of {@link styled}. */
const escapedWith =
  (colour: (sequence: string) => string) =>
  (text: string): string =>
    text
      .split(colours)
      .map((part) => (part.startsWith(mark) ? colour(part) : escapeControls(part)))
      .join('');

/** Makes one line, or a cell of a table, of any text: {@link escapeControls}, with the colours of {@link styled}. */
export const oneLine = escapedWith((sequence) => sequence);

/** Columns that a text takes. */
export const widthOf = (text: string): number => stripVTControlCharacters(text).length;

/**
 * Writes text, line by line, to a terminal or anywhere else. All output of commands goes through this class.
 * It may contain foreign text, such as names of partners, responses of receivers or members of a file, so
 * only the colours of {@link styled} reach the terminal as control characters, and those only if `styleText`
 * colours the stream: a terminal, unless `NO_COLOR` is set.
 */
export function writerTo(outlet: Outlet): (text: string) => void {
  const isColoured = outlet instanceof Writable && styleText('bold', '.', { stream: outlet }) !== '.';
  const shown = escapedWith((sequence) => (isColoured ? sequence.replace(mark, '\u001b[') : ''));
  return (text) => void outlet.write(text.split('\n').map(shown).join('\n'));
}
