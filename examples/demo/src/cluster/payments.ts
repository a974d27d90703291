import { setTimeout as delay } from 'node:timers/promises';
import { callsOf, type PartnerCalls } from '../walkthrough/calls.ts';
import { random } from '../walkthrough/flow.ts';
import { found, textOf } from '../walkthrough/found.ts';
import { type Fields, StepFailed } from '../walkthrough/report.ts';
import type { Cluster } from './cluster-parts.ts';

/** What was sent, and what came of it. */
export interface Payment {
  readonly body: Fields;
  readonly idempotencyKey: string;
  /** The process that answered, by its place. */
  readonly web: number;
  readonly transferId: string;
  /** Requests until there was an answer: more than one when a process died. */
  readonly tries: number;
}

/** Payments that are under way at once. */
const parallel = 4;

/** A client is not a benchmark: it takes its time, and processes die in the middle of it. */
const paceMs = 60;

const callsByWeb = ({ report, file, webs }: Cluster): readonly PartnerCalls[] =>
  webs.map(({ origin }) => callsOf({ report, file: { ...file, baseUrl: origin } }, 'live'));

/** Sends a payment until it is answered, each time to the next process, always with the same key. */
async function pay(calls: readonly PartnerCalls[], first: number, body: Fields): Promise<Payment> {
  const idempotencyKey = random();
  for (let tries = 1; tries <= 100; tries += 1) {
    const web = (first + tries) % calls.length;
    // Nobody there, or gone before the answer: whether it took effect is not known.
    const answer = await calls[web]?.post('payments', body, { idempotencyKey }).catch(() => undefined);
    if (answer?.status === 201)
      return { body, idempotencyKey, web, transferId: textOf(answer.body.id, 'id'), tries };
    if (answer !== undefined && answer.status < 500)
      throw new StepFailed(`a payment was answered with ${answer.text}`);
    await delay(100);
  }
  throw new StepFailed('a payment was not answered');
}

/** Sends `count` payments of 1.00 to the processes in turn; `paid` is told after each of them. */
export async function payAll(
  cluster: Cluster,
  count: number,
  paid: (done: number) => Promise<void>,
): Promise<readonly Payment[]> {
  const calls = callsByWeb(cluster);
  const { users } = cluster.file;
  const payments: Payment[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) {
      const { kid } = found(users[at % users.length], 'user');
      const body = { amount: '1.00', currency: 'HTG', recipient: { kid }, reference: `order-${at}` };
      payments.push(await pay(calls, at, body));
      await paid(payments.length);
      await delay(paceMs);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return payments;
}

/** Sends every payment once more, to another process. @returns how many were answered as the first time */
export async function replayAll(cluster: Cluster, payments: readonly Payment[]): Promise<number> {
  const calls = callsByWeb(cluster);
  let same = 0;
  for (const { body, idempotencyKey, web, transferId } of payments) {
    const other = found(calls[(web + 1) % calls.length], 'process');
    const answer = await other.post('payments', body, { idempotencyKey });
    const isReplay = answer.headers.get('idempotent-replayed') === 'true';
    if (answer.status === 201 && isReplay && answer.body.id === transferId) same += 1;
  }
  return same;
}
