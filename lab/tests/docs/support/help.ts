import { join } from 'node:path';
import { root } from '../../../support/documentation.ts';
import { runHere } from '../../../support/processes/run-here.ts';

/** Path of the reference server's command line, which has the commands of every installation, too. */
export const program = join(root, 'examples/reference-server/src/cli/main.ts');

/**
 * Returns the lines of a help page that list commands: the lines below its headings, without options,
 * arguments and the example.
 */
const commandLines = (page: string): string[] =>
  Array.from(page.matchAll(/^([A-Z][\w ]+):\n((?: .*\n?)+)/gm)).flatMap(([, heading = '', lines = '']) =>
    /Options$|^Example$|^Required$|^Arguments$/.test(heading) ? [] : lines.split('\n'),
  );

/** Returns the names of the commands in a list: the first words of the lines, except continued lines. */
const namesIn = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^ {2}([a-z][\w-]*)/.exec(line)?.[1] ?? []);

/**
 * Finds every command of the reference server through the help, and returns the help page of each command.
 */
export async function helpPages(): Promise<ReadonlyMap<string, string>> {
  const helpOf = async (...words: string[]) => (await runHere(program, ['help', ...words], {})).output;
  const pages = new Map<string, string>();
  for (const noun of namesIn(commandLines(await helpOf()))) {
    const page = await helpOf(noun);
    const verbs = namesIn(commandLines(page));
    for (const verb of verbs) pages.set(`${noun} ${verb}`, await helpOf(noun, verb));
    if (verbs.length === 0) pages.set(noun, page);
  }
  return pages;
}
