import {
  OstiaryError,
  OstiaryPartner,
  type OstiaryPartnerOptions,
  type PaymentRequest,
  type Transfer,
} from '@ostiary/client-sdk';
import { createTestOstiary, type TestOstiary } from '@ostiary/testing';
import { type Network, networkOf } from './network.ts';
import type { Order, Schedule } from './schedule.ts';
import type { Tally } from './tally.ts';

/** A payment that a program requests through the SDK. */
interface Asked {
  readonly request: PaymentRequest;
  readonly key: string | undefined;
}

/** Result of an SDK call: a transfer or an error. */
type End = { readonly transfer: Transfer } | { readonly error: OstiaryError };

function railOf(kit: TestOstiary, { rail }: Schedule): void {
  if (rail === 'fails') kit.rail.fail();
  if (rail === 'holds') kit.rail.hold();
  if (rail === 'breaks down') kit.rail.breakDown();
}

/**
 * Builds the request of a payment and its idempotency key. The unique description identifies the transfer.
 */
function askedFor(order: Order, number: number, before: Asked | undefined): Asked {
  const reference = order.takes === 'reference' ? before?.request.reference : undefined;
  return {
    request: {
      amount: `${number + 1}.00`,
      currency: 'HTG',
      recipient: { kid: 'KID-PAYEE' },
      description: `payment ${number}`,
      reference: reference ?? (order.reference ? `reference-${number}` : undefined),
    },
    key: (order.takes === 'key' ? before?.key : undefined) ?? (order.key ? `key-${number}` : undefined),
  };
}

async function endOf(call: PromiseLike<Transfer>): Promise<End> {
  try {
    return { transfer: await call };
  } catch (error) {
    if (!(error instanceof OstiaryError)) throw error;
    return { error };
  }
}

/** Service, clients and counters with which a schedule of payments is run. */
interface Scene {
  readonly kit: TestOstiary;
  readonly schedule: Schedule;
  readonly tally: Tally;
  /** Problems that the SDK proof found. */
  readonly problems: string[];
  readonly connection: Pick<OstiaryPartnerOptions, 'apiKey' | 'baseUrl' | 'now'>;
  readonly sleep: (ms: number) => Promise<void>;
  /** API client on a network without faults, with a separate API key that has its own rate limit. */
  readonly direct: OstiaryPartner;
}

async function transfersOf({ direct }: Scene, description?: string): Promise<Transfer[]> {
  const found: Transfer[] = [];
  for await (const transfer of direct.payments.list({ limit: 100 })) {
    if (description === undefined || transfer.description === description) found.push(transfer);
  }
  return found;
}

async function make(
  { kit, schedule, tally, connection, sleep }: Scene,
  order: Order,
  { request, key }: Asked,
): Promise<{ end: End; network: Network }> {
  const giveUp = new AbortController();
  const network = networkOf(kit, order.faults, (fault, attempt) => {
    tally.meet(fault.kind);
    // Abort a moment later, so that the request is running.
    if (attempt === order.abortAt) setImmediate(() => giveUp.abort());
  });
  const { timeout, totalTimeout, maxRetries } = order;
  const ostiary = new OstiaryPartner({
    ...connection,
    ...(schedule.signed ? { signingSecret: kit.keys.live.signingSecret } : {}),
    ...{ timeout, totalTimeout, maxRetries, fetch: network.fetch, sleep, random: () => schedule.jitter },
  });
  tally.calls += 1;
  const call = ostiary.payments.create(request, { signal: giveUp.signal, idempotencyKey: key });
  const end = await endOf(call);
  // Remove a fault that met no request, because the call was aborted before.
  kit.faults.clear();
  return { end, network };
}

/**
 * Checks that the result of the SDK call is true, once the requests that were delayed until its end have
 * arrived.
 */
async function judge(scene: Scene, asked: Asked, end: End): Promise<void> {
  const { kit, tally, problems } = scene;
  const { description = '' } = asked.request;
  await kit.settle();
  const made = await transfersOf(scene, description);
  const complain = (problem: string): void => void problems.push(`${description}: ${problem}`);
  if ('transfer' in end) {
    tally.end('answered', made.length);
    if (made.length !== 1) complain(`answered, and there are ${made.length} transfers`);
    if (end.transfer.id !== made[0]?.id) complain('the answer is another transfer');
    return;
  }
  const { outcome, code } = end.error;
  tally.end(outcome, made.length);
  if (made.length > 1) complain(`paid ${made.length} times`);
  if (outcome === 'not_executed' && made.length > 0) complain(`not_executed (${code}), and it was`);
  if (outcome === 'executed' && made.length !== 1) complain(`executed (${code}), and it was not`);
}

/**
 * Repeats the SDK call with the error's idempotency key once the network has no more faults: now the outcome
 * must be definite.
 */
async function again(scene: Scene, asked: Asked, order: Order, error: OstiaryError): Promise<void> {
  const { kit, tally, problems, connection, sleep } = scene;
  const { description = '' } = asked.request;
  const { idempotencyKey } = error;
  if (idempotencyKey === null || (asked.key !== undefined && idempotencyKey !== asked.key)) {
    problems.push(`${description}: the error tells another key`);
    return;
  }
  const before = await transfersOf(scene, description);
  await kit.clock.advance('2m');
  const end = await endOf(
    new OstiaryPartner({ ...connection, fetch: kit.fetch, sleep }).payments.create(asked.request, {
      idempotencyKey,
    }),
  );
  const after = await transfersOf(scene, description);
  if ('transfer' in end) {
    tally.retries.settled += 1;
    const [known = end.transfer] = before;
    if (after.length !== 1 || after[0]?.id !== end.transfer.id || known.id !== end.transfer.id) {
      problems.push(`${description}: called again, and there are ${after.length} transfers`);
    }
    return;
  }
  tally.retries.conflicts += 1;
  // The only permitted conflict is another payment that has the key or the reference.
  const { code, outcome } = end.error;
  if (
    order.takes === 'nothing' ||
    code !== 'idempotency_conflict' ||
    outcome !== 'not_executed' ||
    after.length > 0
  ) {
    problems.push(
      `${description}: called again, ${code}, ${outcome}, and there are ${after.length} transfers`,
    );
  }
}

/**
 * Sends the payments of a schedule with the SDK, over a network with the faults of the schedule, and compares
 * the SDK's results with the state of the service and its payment rail.
 * @returns the problems
 */
export async function prove(schedule: Schedule, tally: Tally): Promise<string[]> {
  const problems: string[] = [];
  await using kit = await createTestOstiary({ users: [{ kid: 'KID-PAYEE' }] });
  railOf(kit, schedule);
  const connection = { apiKey: kit.keys.live.key, baseUrl: kit.baseUrl, now: kit.clock.now };
  const sleep = async (ms: number): Promise<void> => await kit.clock.advance(Math.ceil(ms));
  const { key: apiKey } = await kit.keys.issue();
  const direct = new OstiaryPartner({ ...connection, apiKey, fetch: kit.fetch, sleep });
  const scene: Scene = { kit, schedule, tally, problems, connection, sleep, direct };

  const networks: Network[] = [];
  let before: Asked | undefined;
  for (const [number, order] of schedule.orders.entries()) {
    const asked = askedFor(order, number, before);
    const { end, network } = await make(scene, order, asked);
    networks.push(network);
    await network.arrive('call');
    await judge(scene, asked, end);
    if ('error' in end) await again(scene, asked, order, end.error);
    before = asked;
  }
  for (const network of networks) await network.arrive('end');
  await kit.clock.advance('1d');

  // In any order of arrival, each payment is at most one transfer, and the rail has the same transfers.
  const all = await transfersOf(scene);
  if (new Set(all.map(({ description }) => description)).size !== all.length) problems.push('paid twice');
  const ids = (of: readonly string[]): string => [...of].sort().join(' ');
  if (ids(kit.rail.journal.map(({ transferId }) => transferId)) !== ids(all.map(({ id }) => id))) {
    problems.push('the journal of the rail has other transfers than the list');
  }
  return problems;
}
