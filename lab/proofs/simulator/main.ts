/** An endpoint with 30 % of all deliveries is dead for two hours: what becomes of it and of the others. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { shown } from '../../support/measure/report.ts';
import { tableOf } from '../../support/measure/table.ts';
import { type Claim, claim, endProof } from '../../support/proof.ts';
import { run } from './dispatcher.ts';
import { simulate } from './model.ts';
import { differences, small, twoHours } from './scenarios.ts';
import type { Report } from './tally.ts';

const { rate, workers } = numbersFrom({
  /** Deliveries a second, of all endpoints together. */
  rate: 200,
  workers: 2,
});

const kinds = ['refuses', 'hangs'] as const;
const minutes = (ms: number | null): string => (ms === null ? 'never' : `${(ms / 60_000).toFixed(1)} min`);

const lines: Readonly<Record<string, (report: Report) => string>> = {
  'attempts it got': ({ attempts }) => shown(attempts),
  'in its busiest second, while it is dead': ({ busiestDead }) => shown(busiestDead),
  'in its busiest second, when it is back': ({ busiestBack }) => shown(busiestBack),
  'deliveries that wait when it comes back': ({ backlog }) => shown(backlog),
  'dropped after the fifth attempt': ({ dropped }) => shown(dropped),
  'time until what waited is delivered': ({ drainedMs }) => minutes(drainedMs),
  'others: slowest hundredth, in the worst 10 s': ({ othersWorstMs }) => `${shown(othersWorstMs)} ms`,
  'others: time until they are late by a second': ({ othersLateMs }) => minutes(othersLateMs),
  "others: attempts under way (Little's law)": ({ underWay, lawSays }) =>
    `${underWay.toFixed(2)} (${lawSays.toFixed(2)})`,
};

/** A table of reports, one a column. */
function show(title: string, reports: Readonly<Record<string, Report>>): void {
  const rows = Object.entries(lines).map(([name, of]) => [name, ...Object.values(reports).map(of)]);
  console.log(`${title}\n\n${tableOf(['', ...Object.keys(reports)], rows)}\n`);
}

const law = (name: string, { underWay, lawSays }: Report): Claim =>
  claim(
    `${name}: Little's law within 3 %`,
    Math.abs(underWay / lawSays - 1) < 0.03,
    `${underWay} under way, ${lawSays} expected`,
  );

const claims: Claim[] = [];
for (const kind of kinds) {
  const [model, real] = [simulate(small(kind)), await run(small(kind))];
  show(`Small, the endpoint ${kind} for a minute; delays of 0.5, 2.5, 15 and 60 s`, {
    model,
    dispatcher: real,
  });
  claims.push({ name: `it ${kind}: model and dispatcher agree`, problems: differences(model, real) });
}
const plans = kinds.map((kind) => [`it ${kind}`, simulate(twoHours(kind, rate, workers))] as const);
show(`${rate} deliveries a second, ${workers} workers; dead for two hours`, Object.fromEntries(plans));
for (const [name, report] of plans) claims.push(law(name, report));
endProof(claims);
