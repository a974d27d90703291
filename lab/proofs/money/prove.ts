import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { createLedger } from '../../../examples/reference-server/src/ledger/ledger.ts';
import { createAccounts } from '../../../examples/reference-server/src/users/accounts.ts';
import { createPasswords } from '../../../examples/reference-server/src/users/passwords.ts';
import { Client, Tally } from '../../support/clients/client.ts';
import { jsonPost } from '../../support/http.ts';
import { partner } from '../../support/processes/cluster-options.ts';
import { type HostFile, openHost } from '../../support/processes/host-file.ts';
import { claim, eachOf, until } from '../../support/proof.ts';
import { audit, type ListedTransfer, type Outcome } from './audit.ts';
import {
  amountOf,
  decimal,
  expectedOf,
  type PlannedPayment,
  paid,
  recipients,
  type Schedule,
  schedules,
} from './schedule.ts';

/** Number of clients that pay at the same time. */
const parallel = 8;
const patienceMs = 60_000;
const path = '/v1/partner/payments';

/** Creates users, a partner with an API key, and the money that the schedule's payments need. */
async function provision({ database, ostiary }: HostFile, schedule: Schedule) {
  const accounts = createAccounts(database, createPasswords(), Date.now);
  const kids: string[] = [];
  for (let index = 0; index < recipients; index += 1) {
    const user = { handle: `user${index}`, name: `User ${index}`, phone: `+5093700000${index}` };
    const { kid } = await accounts.create({ ...user, password: randomBytes(12).toString('hex') });
    kids.push(kid);
  }
  await ostiary.admin.partners.create({ slug: partner, name: 'Acme' });
  const { key } = await ostiary.admin.apiKeys.issue({
    ...{ partner, mode: 'live' },
    scopes: ['payments:write', 'payments:read'],
  });
  const ledger = createLedger(database, Date.now);
  for (const [currency, funds] of paid(schedule, (payment) => payment.currency))
    await ledger.fund(partner, decimal(funds), currency);
  return { key, kids };
}

/** Makes the functions with which a partner sends payments with its API key to any process. */
function payerOf(client: Client, key: string, kids: readonly string[]) {
  const headers = { 'x-api-key': key };
  const list = async (
    query: Record<string, string>,
  ): Promise<{ data: ListedTransfer[]; nextCursor: string | null }> => {
    const { status, text } = await client.send(`${path}?${new URLSearchParams(query)}`, { headers });
    if (status !== 200) throw new Error(`the list was answered with ${status}: ${text}`);
    return JSON.parse(text);
  };
  return {
    /** Sends a payment with the retries that the schedule plans. */
    async pay(payment: PlannedPayment, index: number): Promise<Outcome> {
      const { kind, currency, recipient } = payment;
      const post = (amount: string) => {
        const kid = kind === 'nobody' ? 'NOBODY' : kids[recipient];
        const body = { amount, currency, recipient: { kid }, description: `Payment ${index}` };
        return client.send(path, jsonPost(body, { ...headers, 'idempotency-key': `payment-${index}` }));
      };
      const amount = amountOf(payment);
      const answers = await Promise.all(Array.from({ length: payment.together }, () => post(amount)));
      for (let retry = 0; retry < payment.retries; retry += 1) answers.push(await post(amount));
      // Refused requests are not stored: their key may be used with any payload.
      const isStored = expectedOf(payment).status === 201;
      return { answers, reused: isStored && payment.reused ? await post('0.01') : null };
    },
    /** Reads every transfer that the API lists, page by page. */
    async transfers(): Promise<ListedTransfer[]> {
      const all: ListedTransfer[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await list({ limit: '100', ...(cursor === '' ? {} : { cursor }) });
        all.push(...page.data);
        cursor = page.nextCursor;
      }
      return all;
    },
    /** Checks that no transfer is pending any more. */
    isSettled: async () => (await list({ status: 'pending', limit: '1' })).data.length === 0,
  };
}

/**
 * Generates a schedule of payments, runs the schedule against a server process that is killed again and
 * again, and audits the result.
 */
export async function prove({ seed, ...size }: Readonly<Record<'seed' | 'payments' | 'kills', number>>) {
  const [schedule] = fc.sample(schedules(size), { seed, numRuns: 1 });
  if (schedule === undefined) throw new Error('there is no schedule');
  await using ends = new AsyncDisposableStack();
  const host = await openHost(ends);
  const { key, kids } = await provision(host, schedule);
  const server = host.start();
  const tally = new Tally();
  const giveUp = new AbortController();
  const payer = payerOf(new Client([server], () => tally, 0, giveUp.signal), key, kids);
  const outcomes: Outcome[] = [];
  let paidSoFar = 0;
  const payAll = eachOf(schedule.payments, parallel, async (payment, index) => {
    outcomes[index] = await payer.pay(payment, index);
    paidSoFar += 1;
  });
  const killAll = async (): Promise<void> => {
    for (const { after, delayMs } of schedule.kills) {
      await until(() => paidSoFar >= after, { everyMs: 1 });
      // Kill the process at a random moment of its work.
      await setTimeout(delayMs);
      await server.kill();
    }
  };
  ends.defer(() => giveUp.abort());
  await Promise.all([killAll(), payAll]);
  const isSettled = await until(payer.isSettled, { withinMs: patienceMs });
  const listed = await payer.transfers();
  await server.stop();
  const { connection } = host.database;
  return {
    claims: [
      { name: 'nobody is told anything but 503 while nothing can be done', problems: tally.wrong },
      claim('no transfer stays pending', isSettled, `settled: ${isSettled}`),
      ...audit({ schedule, kids, outcomes, listed, database: connection }),
    ],
    tally,
    transfers: listed.length,
  };
}
