import { join } from 'node:path';
import { runHere } from '../../../support/processes/run-here.ts';
import { root } from './pages.ts';

/** The command line of the reference server: commands of every installation beside its own. */
export const program = join(root, 'examples/reference-server/src/cli/main.ts');

/** Lines of a help page that stand below a heading. */
const below = (page: string, heading: string): string[] =>
  (page.split(`\n${heading}:\n`)[1]?.split('\n\n')[0] ?? '').split('\n');

/** Names of the commands in a list of them: the first words of the lines that are not continued ones. */
const namesIn = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => /^ {2}([a-z][\w-]*)/.exec(line)?.[1] ?? []);

/** Every command of the reference server with the page that its `--help` prints, as a stranger finds them. */
export async function helpPages(): Promise<ReadonlyMap<string, string>> {
  const helpOf = async (...words: string[]) => (await runHere(program, ['help', ...words], {})).output;
  const pages = new Map<string, string>();
  for (const noun of namesIn(below(await helpOf(), 'Commands'))) {
    const page = await helpOf(noun);
    const verbs = namesIn(below(page, 'Commands'));
    for (const verb of verbs) pages.set(`${noun} ${verb}`, await helpOf(noun, verb));
    if (verbs.length === 0) pages.set(noun, page);
  }
  return pages;
}
