/** What whoever runs the service does to it, under load. See ../README.md. */
import { numbersFrom } from '../../support/arguments.ts';
import { tableOf } from '../../support/measure/table.ts';
import { proveBackup } from './backup.ts';
import { postgresSource } from './backup-postgres.ts';
import { sqliteSource } from './backup-sqlite.ts';
import { type Line, prove, violationsOf } from './run.ts';

const { rate, overlap } = numbersFrom({
  /** Operations a second, all kinds together. */
  rate: 20,
  /** Seconds for which old secrets and keys go on working. */
  overlap: 10,
});
console.log(
  'two web processes and two workers of the reference server on one PostgreSQL, behind a balancer\n',
);
// A key may verify once and pay twice a second, an address may begin five authorizations: three keys, one address.
const rates = { userinfo: rate * 0.6, exchange: rate * 0.1, verify: rate * 0.1, payment: rate * 0.2 };
const done = (name: string): void => console.error(`${name}: done`);
const lines: Line[] = await prove(
  { workers: 2, rates, overlapSeconds: overlap, quietSeconds: 5, isShort: false },
  done,
);

const postgres = await postgresSource();
if ('skipped' in postgres) {
  const found = `skipped: ${postgres.skipped}`;
  lines.push({ name: 'backup with pg_dump', requests: null, failures: [], found, holds: true });
} else {
  const line = await proveBackup(postgres.source, rates);
  lines.push({ ...line, name: `${line.name} (PostgreSQL ${postgres.version})` });
  await postgres.remove();
  done(line.name);
}
const sqlite = await sqliteSource();
const line = await proveBackup(sqlite.source, rates);
lines.push(line);
await sqlite.remove();
done(line.name);

const width = Math.max(...lines.map(({ found }) => found.length));
console.log(
  tableOf(
    ['operation', 'requests', 'failed', '', 'found'.padEnd(width)],
    lines.map(({ name, requests, failures, holds, found }) => [
      name,
      requests === null ? '' : String(requests),
      requests === null ? '' : String(failures.length),
      holds && failures.length === 0 ? 'ok' : 'NO',
      found.padEnd(width),
    ]),
  ),
);
const violations = violationsOf(lines);
for (const violation of violations.slice(0, 20)) console.log(`\nVIOLATED  ${violation}`);
if (violations.length > 20) console.log(`\nand ${violations.length - 20} more`);
// Here and not by itself: what starts PostgreSQL makes 0 of the exit code at the end of a process.
process.exit(violations.length === 0 ? 0 : 1);
