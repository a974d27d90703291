/** Runs the cases with each mutant of a folder, in a process of its own; prints which cases fail, by the mutant's folder. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { casesOf, runCases } from '../cases/cases.ts';
import { vectors } from '../vectors/vectors.ts';

const folder = process.argv[2] ?? '';
const failures: { [mutant: string]: readonly string[] } = {};
for (const name of readdirSync(folder)) {
  try {
    const mutant = await import(join(folder, name, 'src/index.ts'));
    failures[name] = (await runCases(casesOf(mutant, vectors))).failures;
  } catch (error) {
    failures[name] = [`does not load: ${String(error)}`];
  }
}
console.log(JSON.stringify(failures));
