/** Races between processes on one PostgreSQL. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { race } from './run.ts';

const size = numbersFrom({ runs: 20, redemptions: 200, repetitions: 100, requests: 200, deliveries: 10_000 });
console.log('two web processes and four workers on one PostgreSQL\n');
const reports = await race({ ...size, fsync: true }, ({ name }) => console.error(`${name}: done`));
console.log(
  tableOf(
    ['race', 'runs', '503', ''],
    reports.map(({ name, runs, unavailable, problems }) => [
      name,
      String(runs),
      String(unavailable),
      problems.length === 0 ? 'holds' : 'VIOLATED',
    ]),
  ),
);
console.log();
for (const { name, figures, problems } of reports) {
  console.log(`${name}: ${figures}`);
  for (const problem of problems.slice(0, 5)) console.log(`          ${problem.slice(0, 200)}`);
  if (problems.length > 5) console.log(`          and ${problems.length - 5} more`);
  if (problems.length > 0) process.exitCode = 1;
}
// Here and not by itself: what starts PostgreSQL makes 0 of the exit code at the end of a process.
process.exit();
