import { Writable } from 'node:stream';
import { stripVTControlCharacters, styleText } from 'node:util';

/** Where a command line writes: a stream of Node, or anything else that takes text. */
export interface Outlet {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Writes text, with its colours where `styleText` gives a stream some: a terminal, unless `NO_COLOR` is set. */
export function coloured(outlet: Outlet): (text: string) => void {
  const isColoured = outlet instanceof Writable && styleText('bold', '.', { stream: outlet }) !== '.';
  return (text) => void outlet.write(isColoured ? text : stripVTControlCharacters(text));
}
