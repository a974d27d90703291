/*
 * Plants faults in the SQL of an adapter, one at a time in a scratch copy, and says which case of the
 * contract suite catches each. Run before a release; see CONTRIBUTING.md.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seeded } from '../support/arguments.ts';
import { type Fault, faultsIn } from './faults.ts';
import { createScratch } from './scratch.ts';

const { values } = parseArgs({
  options: {
    /** Storage adapter in which faults are planted: `sqlite` or `postgres`. */
    adapter: { type: 'string', default: 'sqlite' },
    /** Number of faults to plant, chosen at random. */
    most: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    /** Part of a file's path; faults are planted in matching files only. */
    file: { type: 'string', default: '' },
  },
});

interface PlantedFault extends Fault {
  readonly path: string;
  readonly original: string;
}

const scratch = createScratch(`adapter-${values.adapter}`);
process.once('exit', scratch.remove);

/**
 * Sources and database functions in which faults are planted. The tables are left out, because tests of the
 * migrations cover them.
 */
const paths = globSync(['src/*.ts', 'sql/**/*.sql'], { cwd: scratch.folder })
  .filter((path) => !/migrations|initial|\/0\d+/.test(path) && path.includes(values.file))
  .toSorted();
const random = seeded(Number(values.seed));
const faults = paths
  .flatMap((path): PlantedFault[] => {
    const original = readFileSync(join(scratch.folder, path), 'utf8');
    return faultsIn(path, original).map((fault) => ({ ...fault, path, original }));
  })
  .map((fault) => ({ fault, rank: random() }))
  .toSorted((a, b) => a.rank - b.rank)
  .slice(0, Number(values.most))
  .map(({ fault }) => fault);

const broken = await scratch.firstFailure();
if (broken !== null) throw new Error(`the suite fails without a fault: ${broken}`);

const missed: string[] = [];
for (const { path, line, change, mutated, original } of faults) {
  const file = join(scratch.folder, path);
  writeFileSync(file, mutated);
  const caughtBy = await scratch.firstFailure();
  writeFileSync(file, original);
  const fault = `${path}:${line}  ${change}`;
  console.log(`${fault}\n    ${caughtBy ?? 'NOT CAUGHT'}`);
  if (caughtBy === null) missed.push(fault);
}
console.log(`\n${faults.length - missed.length} of ${faults.length} faults are caught. Not caught:`);
for (const fault of missed) console.log(`  ${fault}`);
