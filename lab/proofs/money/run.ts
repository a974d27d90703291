import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { migrate } from '../../../examples/reference-server/src/database/migrations.ts';
import { openSqlite } from '../../../examples/reference-server/src/database/sqlite.ts';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createAccounts } from '../../../examples/reference-server/src/users/accounts.ts';
import { createPasswords } from '../../../examples/reference-server/src/users/passwords.ts';
import { KilledProcess } from '../../support/processes/killed-process.ts';
import { audit, type Findings } from './audit.ts';
import { Client, type Outcome, type Troubles } from './client.ts';
import { decimal, fundsFor } from './model.ts';
import { recipients, type Schedule } from './schedule.ts';

/** What a proof found. */
export interface Report {
  readonly findings: Findings;
  readonly requests: number;
  readonly transfers: number;
  readonly kills: number;
  readonly troubles: Troubles;
}

/** Clients that pay at the same time. */
const parallel = 8;

const serverScript = new URL('./server.ts', import.meta.url);

const partner = 'acme';

/** Creates users, a partner with a key, and the money that the schedule needs. */
async function provision(schedule: Schedule, file: string, sealingKey: string) {
  const database = await openSqlite(file);
  await migrate(database, Date.now());
  const accounts = createAccounts(database, createPasswords(), Date.now);
  const ledger = createLedger(database, Date.now);
  const kids: string[] = [];
  for (let index = 0; index < recipients; index += 1) {
    const user = { handle: `user${index}`, name: `User ${index}`, phone: `+5093700000${index}` };
    const { kid } = await accounts.create({ ...user, password: randomBytes(12).toString('hex') });
    kids.push(kid);
  }
  const ostiary = await createOstiary({
    authUrl: 'http://localhost:1',
    storage: sqliteStorage({ file }),
    sealingKeys: [sealingKey],
    users: { find: () => null },
    login: { authenticate: () => null, loginUrl: () => '/login' },
  });
  await ostiary.admin.partners.create({ slug: partner, name: 'Acme' });
  const { key } = await ostiary.admin.apiKeys.issue({
    partner,
    mode: 'live',
    scopes: ['payments:write', 'payments:read'],
  });
  for (const currency of ['HTG', 'USD'] as const) {
    const funds = fundsFor(schedule, currency);
    if (funds > 0n) await ledger.fund(partner, decimal(funds), currency);
  }
  await ostiary.close();
  database.close();
  return { key, kids };
}

/** Counts paid payments and tells when there are enough. */
class Progress {
  #count = 0;
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  advance(): void {
    this.#count += 1;
    for (const { count, resolve } of this.#waiting) if (this.#count >= count) resolve();
  }

  reach(count: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#count >= count) resolve();
      else this.#waiting.push({ count, resolve });
    });
  }
}

/** Runs a schedule against one server process that is killed again and again, and audits what is left. */
export async function prove(schedule: Schedule): Promise<Report> {
  const directory = await mkdtemp(join(tmpdir(), 'ostiary-money-'));
  const file = join(directory, 'ostiary.db');
  const sealingKey = randomBytes(32).toString('base64url');
  const { key, kids } = await provision(schedule, file, sealingKey);
  const server = new KilledProcess(serverScript, { DATABASE_FILE: file, SEALING_KEY: sealingKey });
  try {
    const client = new Client(server, key, kids);
    const progress = new Progress();
    const outcomes: Outcome[] = [];
    const waiting = [...schedule.payments.entries()];
    const payAll = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, payment] = next;
        outcomes[index] = await client.pay(payment, index);
        progress.advance();
      }
    };
    const killAll = async (): Promise<void> => {
      for (const { after, delayMs } of schedule.kills) {
        await progress.reach(after);
        // A moment in the middle of whatever is going on.
        await setTimeout(delayMs);
        await server.kill();
      }
    };
    await Promise.all([killAll(), ...Array.from({ length: parallel }, payAll)]);
    await client.settled();
    const listed = await client.transfers();
    await server.stop();

    const database = await openSqlite(file);
    const findings = audit({ schedule, kids, outcomes, listed, database: database.connection });
    database.close();
    return {
      findings,
      requests: outcomes.reduce(
        (sum, { answers, reused }) => sum + answers.length + (reused === null ? 0 : 1),
        0,
      ),
      transfers: listed.length,
      kills: schedule.kills.length,
      troubles: client.troubles,
    };
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** What is wrong, in one list. */
export function violationsOf({ findings }: Report): string[] {
  return [...findings].flatMap(([name, problems]) => problems.map((problem) => `${name}: ${problem}`));
}
