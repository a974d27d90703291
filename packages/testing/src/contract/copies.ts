import type { Storage } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import {
  acme,
  executionOf,
  sampleApiKey,
  sampleClaim,
  sampleEvent,
  samplePartner,
  sampleTransfer,
} from './partner-samples.ts';
import { digestOf, issued, minute, now, sampleClient, sampleToken } from './samples.ts';
import { claim, listed, redeliver, sampleAttempt, sampleEndpoint } from './webhook-samples.ts';

/** A call that stores what it is given, and how that is read back. */
interface Row {
  /** What is given, made anew. */
  fresh(): object;
  /** Makes the call; answers with what it was given, and with its end. */
  start(storage: Storage): readonly [object, Promise<unknown>];
  /** Answers with what was given, or with something that has all of it. */
  read(storage: Storage): Promise<unknown>;
}

const rowOf = <Given extends object>(
  fresh: () => Given,
  store: (storage: Storage, given: Given) => Promise<unknown>,
  read: (storage: Storage) => Promise<unknown>,
): Row => ({
  fresh,
  start(storage) {
    const given = fresh();
    return [given, store(storage, given)];
  },
  read,
});

/** The record of a key, if it has the fingerprint that was given. */
async function recordOf({ idempotency }: Storage, key: string): Promise<unknown> {
  const found = await idempotency.find({ ...sampleClaim(key), now });
  return found?.outcome === 'replayed' ? { ...sampleClaim(key), answer: found.answer } : found;
}

const rows: Readonly<Record<string, Row>> = {
  'a client': rowOf(
    () => sampleClient({ clientId: 'copied' }),
    ({ clients }, client) => clients.insert(client),
    ({ clients }) => clients.find('copied'),
  ),
  'an API key': rowOf(
    () => sampleApiKey('copied'),
    ({ apiKeys }, key) => apiKeys.insert(key),
    ({ apiKeys }) => apiKeys.findByDigest(digestOf('key copied')),
  ),
  'an interaction': rowOf(
    () => ({ digest: digestOf('interaction'), payload: { list: ['kept'], deep: { text: 'kept' } } }),
    ({ interactions }, { digest, payload }) => interactions.save(digest, payload, now + minute),
    async ({ interactions }) => {
      const payload = await interactions.find(digestOf('interaction'), now);
      return { digest: digestOf('interaction'), payload };
    },
  ),
  'a redemption': rowOf(
    () => ({ codeDigest: digestOf('code a'), token: sampleToken('copied') }),
    ({ grants }, given) => grants.redeem({ ...given, maxFailedVerifiers: 5, now }),
    async ({ grants }) => {
      const found = await grants.findToken(sampleToken('copied').digest);
      return {
        codeDigest: digestOf('code a'),
        token: found && sampleToken('copied', { expiresAt: found.expiresAt }),
      };
    },
  ),
  'a transfer': rowOf(
    () => sampleTransfer('copied', { metadata: { list: ['kept'], deep: { text: 'kept' } } }),
    ({ transfers }, transfer) =>
      transfers.create({ transfer, idempotency: null, job: executionOf(sampleTransfer('copied')), now }),
    ({ transfers }) => transfers.findById('tr_copied'),
  ),
  'the job of a transfer, and the record of its key': rowOf(
    () => ({ job: executionOf(sampleTransfer('b')), idempotency: sampleClaim('transfer') }),
    ({ transfers }, given) => transfers.create({ transfer: sampleTransfer('b'), ...given, now }),
    async (storage) => {
      const jobs = await storage.queue.claim({
        kinds: ['transfer'],
        claimId: 'c',
        now,
        leaseMs: 0,
        limit: 9,
      });
      const { id, kind, payload, dueAt } = jobs.find((job) => job.id === 'execute tr_b') ?? {};
      return { job: { id, kind, payload, dueAt }, idempotency: await recordOf(storage, 'transfer') };
    },
  ),
  'a webhook endpoint, and the record of its key': rowOf(
    () => ({ endpoint: sampleEndpoint('copied'), idempotency: sampleClaim('endpoint') }),
    ({ webhooks }, given) => webhooks.create({ ...given, max: 9, now }),
    async (storage) => ({
      endpoint: await storage.webhooks.find(acme, 'we_copied'),
      idempotency: await recordOf(storage, 'endpoint'),
    }),
  ),
  'a changed webhook endpoint': rowOf(
    () => sampleEndpoint('copied', { events: ['kyc.updated', 'payment.completed'], version: 2 }),
    ({ webhooks }, endpoint) => webhooks.replace(endpoint, now),
    ({ webhooks }) => webhooks.find(acme, 'we_copied'),
  ),
  'a secret that is sealed anew': rowOf(
    () => [{ id: 'we_copied', before: 'sealed copied', sealed: 'sealed anew' }],
    ({ webhooks }, secrets) => webhooks.reseal(secrets),
    async ({ webhooks }) => {
      const page = await webhooks.listSealed({ after: null, limit: 9 });
      return page
        .filter(({ id }) => id === 'we_copied')
        .map((secret) => ({ ...secret, before: 'sealed copied' }));
    },
  ),
  'an event': rowOf(
    () => [sampleEvent('copied')],
    ({ events }, all) => events.publish(all, { idempotency: null, now }),
    async ({ events }) => [{ deliveryId: 'dl_copied', ...(await events.find(acme, 'evt_copied')) }],
  ),
  'the record of the key of a redelivery': rowOf(
    () => {
      const { answer: _, ...claimed } = sampleClaim('redelivery');
      return claimed;
    },
    (storage, idempotency) => redeliver(storage, 'evt_copied', 'again', { idempotency }),
    (storage) => recordOf(storage, 'redelivery'),
  ),
  'the result of a delivery': rowOf(
    () => [
      { id: 'dl_copied_1', claimId: 'c', attempt: sampleAttempt(1), next: { status: 'delivered' } as const },
    ],
    ({ deliveries }, results) => deliveries.finish(results),
    async (storage) => {
      const shown = await listed(storage, { eventId: 'evt_copied' });
      return shown.map(({ id, status, attempts: [attempt] }) => ({
        id,
        claimId: 'c',
        attempt,
        next: { status },
      }));
    },
  ),
};

/** Changes everything in an object that somebody else may still hold. */
function scramble(value: object): void {
  if (value instanceof Uint8Array) return void value.fill(0);
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) scramble(member);
    else Reflect.set(value, name, 'scrambled');
  }
  if (Array.isArray(value)) value.push('scrambled');
}

/** As much of a value as an example has. */
function likeness(value: unknown, example: unknown): unknown {
  const isPlain = (one: unknown) => typeof one === 'object' && one !== null && !(one instanceof Uint8Array);
  if (!isPlain(value) || !isPlain(example)) return value;
  const [all, some] = [Object(value), Object(example)];
  if (Array.isArray(all)) return all.map((one, index) => likeness(one, some[index]));
  return Object.fromEntries(Object.keys(some).map((name) => [name, likeness(all[name], some[name])]));
}

export const copyCases = casesOf('storage', {
  'what a caller holds is a copy': async (storage) => {
    await storage.partners.insert(samplePartner());
    await issued(storage, 'a');
    for (const [name, row] of Object.entries(rows)) {
      if (name === 'the result of a delivery') await claim(storage, 'c');
      const [given, storing] = row.start(storage);
      scramble(given);
      await storing;
      for (const moment of ['while it is saved', 'after it was read']) {
        const shown = await row.read(storage);
        assertSame(likeness(shown, row.fresh()), row.fresh(), `${name}, changed ${moment}`);
        scramble(Object(shown));
      }
    }
  },
});
