/** Deliveries by a worker that is killed again and again, to receivers that misbehave. See ../README.md. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { tableOf } from '../../support/measure/table.ts';
import { proveFairness } from './fairness.ts';
import { plans } from './plans.ts';
import { type Behaviour, behaviours } from './receiver.ts';
import { prove, type Report, violationsOf } from './run.ts';

const { values: options } = parseArgs({
  options: {
    /** Repeats the moments of the kills. */
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    deliveries: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '30' },
    /** Only receivers that behave like this, with commas between. */
    receivers: { type: 'string', default: behaviours.join() },
  },
});
const [seed, deliveries, kills] = [options.seed, options.deliveries, options.kills].map((text) => {
  if (!/^[0-9]{1,10}$/.test(text)) throw new TypeError(`${text} is no number`);
  return Number(text);
}) as [number, number, number];
const wanted = options.receivers.split(',').map((name): Behaviour => {
  const behaviour = behaviours.find((known) => known === name);
  if (behaviour === undefined) throw new TypeError(`--receivers: there is no ${name}`);
  return behaviour;
});

console.log(`${deliveries} deliveries and ${kills} kills for each receiver, seed ${seed}\n`);
const reports: Report[] = [];
for (const behaviour of wanted) {
  const [plan] = fc.sample(plans({ behaviour, deliveries, kills }), { seed, numRuns: 1 });
  if (plan === undefined) throw new Error('there is no plan');
  reports.push(await prove(plan));
}

const heads = [
  'receiver',
  'deliveries',
  'kills',
  'requests',
  'lost',
  'accepted twice',
  'seconds',
  'violated',
];
const lines = reports.map((report) => [
  report.plan.behaviour,
  String(report.plan.deliveries),
  String(report.plan.kills.length),
  String(report.requests),
  String(report.lost),
  String(report.duplicates),
  report.seconds.toFixed(1),
  `${[...report.findings.values()].filter((problems) => problems.length > 0).length} of ${report.findings.size} checks`,
]);
console.log(tableOf(heads, lines));
const limitMs = 2_000;
const { hanging, backlog, events, arrived, ...delay } = await proveFairness({
  seconds: 30,
  everyMs: 50,
  backlog: 20,
});
const shown = Object.entries(delay).map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`);
const isFair = arrived === events && delay.p95 < limitMs;
console.log(
  `\nfairness: ${hanging} endpoints hang with ${backlog} deliveries; ${arrived} of ${events} events reached the healthy one, ` +
    `from publication to arrival ${shown.join(', ')}: ${isFair ? 'holds' : 'VIOLATED'} (p95 < ${limitMs} ms)`,
);
if (!isFair) process.exitCode = 1;
for (const report of reports) {
  for (const violation of violationsOf(report).slice(0, 10)) {
    console.log(`\n${report.plan.behaviour}: VIOLATED  ${violation}`);
    process.exitCode = 1;
  }
}
if (process.exitCode === 1) console.log(`\nrepeat with --seed ${seed}`);
