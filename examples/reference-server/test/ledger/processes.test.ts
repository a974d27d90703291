import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createAccounts } from '../../src/users/accounts.ts';
import { createDirectory } from '../../src/users/directory.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { testDatabase } from '../support/database.ts';
import { anaika, cheap } from '../support/server.ts';

const program = join(import.meta.dirname, '../support/paying.ts');

interface Ended {
  readonly lines: readonly string[];
  readonly signal: NodeJS.Signals | null;
}

/** Starts a process that pays; `killAfter` ends it with SIGKILL once it has said so many lines. */
function pay(args: readonly string[], killAfter = Number.POSITIVE_INFINITY): Promise<Ended> {
  const child = spawn(process.execPath, ['--conditions=source', program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  return new Promise((resolve) =>
    child.once('close', (_code, signal) => resolve({ lines: output.trim().split('\n'), signal })),
  );
}

test('processes that pay the same transfers, and die while they do, pay each of them once', async () => {
  const { database, file } = await testDatabase();
  const { sub, kid } = await createAccounts(database, createPasswords(cheap), Date.now).create(anaika);
  const ledger = createLedger(database, Date.now);
  // Enough for 750 of the 1,000 transfers.
  await ledger.fund('kafe', '750.00', 'HTG');
  const killed = await Promise.all([
    pay([file, kid, '1', '600', 'up'], 20),
    pay([file, kid, '1', '600', 'down'], 35),
    pay([file, kid, '300', '600', 'up'], 10),
  ]);
  expect(killed.map(({ signal }) => signal)).toContain('SIGKILL');
  const [up, down] = await Promise.all([
    pay([file, kid, '1', '1000', 'up']),
    pay([file, kid, '1', '1000', 'down']),
  ]);
  expect(up.lines).toHaveLength(1000);
  // Whatever happened before, both are told the same about each.
  expect([...down.lines].sort()).toEqual([...up.lines].sort());
  // So was everybody who got an answer before dying.
  for (const line of killed.flatMap(({ lines }) => lines.slice(0, -1))) expect(up.lines).toContain(line);
  expect(up.lines.filter((line) => line.endsWith(' completed'))).toHaveLength(750);
  const user = await createDirectory(database, Date.now).find(sub, new Set(['wallet:balance']));
  expect(user?.htgBalance).toBe('750.00');
  expect(ledger.funds('kafe').HTG).toBe(0n);
  const { connection } = database;
  const count = (table: string): unknown => connection.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  // The funding and 750 transfers, with two postings each; a decision for every transfer.
  expect([count('app_movements'), count('app_postings'), count('app_executions')]).toEqual([751, 1502, 1000]);
  expect(connection.prepare('SELECT sum(balance) FROM app_accounts').pluck().get()).toBe(0);
});
