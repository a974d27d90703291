import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createAccounts } from '../../src/users/accounts.ts';
import { createDirectory } from '../../src/users/directory.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { expectBalanced } from '../support/books.ts';
import { onBothEngines } from '../support/engines.ts';
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

onBothEngines('a ledger', (engine) => {
  test('of which processes pay the same transfers, and die while they do, pays each of them once', async () => {
    const { database, where } = await engine.open();
    const { sub, kid } = await createAccounts(database, createPasswords(cheap), Date.now).create(anaika);
    const ledger = createLedger(database, Date.now);
    // Enough for 300 of the 400 transfers.
    await ledger.fund('kafe', '300.00', 'HTG');
    const killed = await Promise.all([
      pay([where, kid, '1', '240', 'up'], 20),
      pay([where, kid, '1', '240', 'down'], 35),
      pay([where, kid, '120', '240', 'up'], 10),
    ]);
    expect(killed.map(({ signal }) => signal)).toContain('SIGKILL');
    const [up, down] = await Promise.all([
      pay([where, kid, '1', '400', 'up']),
      pay([where, kid, '1', '400', 'down']),
    ]);
    expect(up.lines).toHaveLength(400);
    // Whatever happened before, both are told the same about each.
    expect([...down.lines].sort()).toEqual([...up.lines].sort());
    // So was everybody who got an answer before dying.
    for (const line of killed.flatMap(({ lines }) => lines.slice(0, -1))) expect(up.lines).toContain(line);
    expect(up.lines.filter((line) => line.endsWith(' completed'))).toHaveLength(300);
    const user = await createDirectory(database, Date.now).find(sub, new Set(['wallet:balance']));
    expect(user?.htgBalance).toBe('300.00');
    expect((await ledger.funds('kafe')).HTG).toBe(0n);
    const count = async (table: string) =>
      (await database.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n;
    // The funding and 300 transfers, with two postings each; a decision for every transfer.
    expect(await count('app_movements')).toBe(301);
    expect(await count('app_postings')).toBe(602);
    expect(await count('app_executions')).toBe(400);
    await expectBalanced(database);
  }, 90_000);
});
