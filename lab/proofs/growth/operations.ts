import { partialDeepStrictEqual } from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type {
  ClaimedDelivery,
  DeliveryResult,
  EventFilter,
  NewEvent,
  Owner,
  Storage,
} from '@ostiary/core/storage';
import type { Pool } from 'pg';
import { newId, systemRandom } from '../../../packages/core/src/secrets/random.ts';
import { seeded } from '../../support/arguments.ts';
import { big, consentOf, gone, now, ownerOf, recentOf, spanMs } from './fill.ts';

/** A storage whose growing tables have `size` rows each, and the state of an operation on this storage. */
export interface Place {
  readonly storage: Storage;
  readonly size: number;
  readonly schema: string;
  /** Connections to the storage's database. */
  readonly watched: { readonly own: Pick<Pool, 'query'> };
  /** Number of earlier calls of this operation on this storage. */
  readonly call: number;
  /** Deliveries that a worker claimed and did not finish. */
  readonly held: (readonly ClaimedDelivery[])[];
}

export type Operation = (place: Place) => Promise<unknown>;

const random = seeded(20261125);
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const codeOf = (row: number) => sha256(`code ${row}`);
const tokenOf = (row: number) => sha256(`token ${row}`);
// Computed with whole numbers, like PostgreSQL: the product exceeds the precision of a double.
const timeOf = (size: number, row: number) =>
  now - Number((BigInt(size - row) * BigInt(spanMs)) / BigInt(size));
/**
 * Returns the id of a row: the prefix and the value of `id` in the statements that fill the tables.
 */
const idOf = (prefix: 'tr' | 'evt' | 'dl', { size }: Place, row: number) => {
  const bytes = (count: number) => createHash('md5').update(String(row)).digest().subarray(0, count);
  return newId(prefix, { bytes }, timeOf(size, row));
};

/** Returns a random row that is not among the newest rows. */
const old = ({ size }: Place): number => 1 + Math.floor(random() * (size - recentOf(size)));

/** Returns one of the newest rows, a different row for each call. */
const fresh = ({ size, call }: Place): number => size - call;

/**
 * Wraps a storage operation and checks its result, because a call that is refused or finds nothing reads
 * fewer pages.
 */
const answering =
  (expected: unknown, operation: Operation): Operation =>
  async (place) => {
    partialDeepStrictEqual(await operation(place), expected);
  };

/** Returns the row of a consent that is not revoked. */
const consented = (place: Place): number => {
  const row = old(place);
  return row % 25 === 3 ? row + 1 : row;
};

export function newEvent(owner: Owner, type = 'payment.completed', createdAt = now): NewEvent {
  const [id, deliveryId] = [newId('evt', systemRandom, createdAt), newId('dl', systemRandom, createdAt)];
  return { ...owner, id, type, body: 'x'.repeat(300), createdAt, deliveryId };
}

export function delivered({ id, claimId, attempt: number }: ClaimedDelivery): DeliveryResult {
  const attempt = { number, at: now, durationMs: 40, httpStatus: 200, error: null, response: 'ok' };
  return { id, claimId, attempt, isCutOff: false, next: { status: 'delivered' } };
}

const redeem = ({ storage }: Place, row: number) =>
  storage.grants.redeem({
    codeDigest: codeOf(row),
    token: {
      ...{ digest: sha256(randomUUID()), issuedAt: now, expiresAt: now + 3_600_000 },
      ...{ scopes: null, resources: null, dpopJkt: null },
    },
    refreshToken: null,
    maxFailedVerifiers: 5,
    now,
  });

const identities: Readonly<Record<string, Operation>> = {
  'userinfo: a token with its grant': answering({}, (place) =>
    place.storage.grants.findToken(tokenOf(old(place))),
  ),
  'exchange: the code': answering({}, (place) => place.storage.grants.find(codeOf(old(place)))),
  'exchange: redeem': answering('redeemed', (place) => redeem(place, fresh(place))),
  'exchange: a code again, which revokes': answering('replayed', (place) => redeem(place, old(place))),
  'authorize: the consent': (place) => {
    const { sub, clientId } = consentOf(old(place));
    return place.storage.consents.find(sub, clientId);
  },
  'authorize: remember the consent': (place) =>
    place.storage.consents.remember({ ...consentOf(consented(place)), scopes: ['openid'], now }),
  'authorize: issue a code': (place) =>
    place.storage.grants.issue({
      ...consentOf(consented(place)),
      codeDigest: sha256(randomUUID()),
      scopes: ['openid'],
      resources: null,
      redirectUri: 'https://app.example/callback',
      codeChallenge: null,
      nonce: null,
      dpopJkt: null,
      sid: 'a session',
      idTokenDetails: null,
      ...{ authenticatedAt: now, issuedAt: now, expiresAt: now + 600_000 },
    }),
  'revoke a token': (place) => place.storage.grants.revokeToken(tokenOf(old(place)), now),
  'connected apps of a user': (place) => place.storage.consents.list(consentOf(old(place)).sub),
  'connected apps: revoke one': (place) => {
    const { sub, clientId } = consentOf(old(place));
    return place.storage.consents.revoke(sub, clientId, now);
  },
  'end a user': (place) => place.storage.consents.endUser(consentOf(old(place)).sub, now, []),
  'user lookup: does the partner hold a consent': (place) => {
    const { sub } = consentOf(old(place));
    return place.storage.consents.partnerHolds({ partner: 'p7', sub, scope: 'kyc' });
  },
  'partners that hold a consent of a user': (place) =>
    place.storage.events.partnersHolding({ sub: consentOf(old(place)).sub, scope: 'kyc' }),
  'API key': answering({}, (place) =>
    place.storage.apiKeys.findByDigest(sha256(`key ${1 + (old(place) % 501)}`)),
  ),
};

const page = { ...big, status: null, reference: null, from: null, to: null, after: null, limit: 26 } as const;
const positionOf = (place: Place, row: number) => ({
  time: timeOf(place.size, row),
  id: idOf('tr', place, row),
});

const payments: Readonly<Record<string, Operation>> = {
  'payment: create, with a key': answering({ outcome: 'created' }, (place) => {
    const id = newId('tr', systemRandom, now);
    const owner = ownerOf(old(place), place.size);
    return place.storage.transfers.create({
      transfer: {
        ...{ ...owner, id, status: 'pending', amount: 1_000n, currency: 'HTG', recipientKid: 'KID-1' },
        ...{ description: null, reference: id, metadata: null, failure: null },
        ...{ createdAt: now, updatedAt: now, completedAt: null },
      },
      idempotency: {
        ...{ ...owner, key: id, fingerprint: sha256('f'), answer: { status: 201, body: id } },
        endsAt: now + spanMs,
      },
      job: { id: `execute ${id}`, kind: 'transfer', payload: {}, dueAt: now },
      now,
    });
  }),
  'payment: replay of a key': (place) => {
    const row = Math.ceil(old(place) / 10);
    return place.storage.idempotency.find({
      ...{ ...ownerOf(row, place.size), key: `key ${row}`, fingerprint: sha256('f'), now },
    });
  },
  'payment: find': answering({}, (place) => {
    const row = old(place);
    return place.storage.transfers.find(ownerOf(row, place.size), idOf('tr', place, row));
  }),
  'payment: settle, with its event': answering({ settled: true }, (place) => {
    const row = fresh(place);
    return place.storage.transfers.settle({
      ...{
        id: idOf('tr', place, row),
        status: 'completed',
        failure: null,
        event: newEvent(ownerOf(row, place.size)),
        now,
      },
    });
  }),
  'payments: newest first': ({ storage }) => storage.transfers.list(page),
  'payments: a page far back': (place) =>
    place.storage.transfers.list({ ...page, after: positionOf(place, old(place)) }),
  'payments: that failed': ({ storage }) => storage.transfers.list({ ...page, status: 'failed' }),
  'payments: within a time': (place) => {
    const row = old(place);
    const [from, to] = [timeOf(place.size, row - 200), timeOf(place.size, row)];
    return place.storage.transfers.list({ ...page, from, to });
  },
  'payments: with a reference': (place) => {
    const row = Math.ceil(old(place) / 5) * 5;
    return place.storage.transfers.list({ ...page, reference: `order ${row}` });
  },
  'export: a page of 100': (place) => {
    const row = Math.ceil(place.size / 4 + old(place) / 4);
    const after = positionOf(place, row);
    const range = { from: 0, to: now, after: { ...after, time: after.time + 2_000 }, limit: 100 };
    return place.storage.transfers.listFinal({ ...big, ...range });
  },
  'jobs: claim one and complete it': async ({ storage }) => {
    const request = { kinds: ['transfer'], claimId: randomUUID(), now, leaseMs: 30_000, limit: 1 };
    for (const job of await storage.queue.claim(request)) await storage.queue.complete(job);
  },
};

const list = { ...big, endpointId: null, eventId: null, status: null, after: null, limit: 26 } as const;
const ofEndpoint = { ...list, endpointId: 'we_p1_b' };
const again = { idempotency: null, answer: () => ({ status: 202, body: '' }), now } as const;

const latest: EventFilter = {
  ...big,
  ...{ before: null, after: null, type: null, until: null, status: null, endpointId: null },
};

const webhooks: Readonly<Record<string, Operation>> = {
  'publish an event': answering({ outcome: 'published' }, (place) =>
    place.storage.events.publish([newEvent(ownerOf(old(place), place.size))], { idempotency: null, now }),
  ),
  'events after a number': (place) =>
    place.storage.events.list({ ...big, after: Math.floor((place.size / 5) * random()), limit: 101 }),
  'events: newest first': ({ storage }) => storage.events.latest({ ...latest, limit: 21 }),
  'events: newest of a rare type': ({ storage }) =>
    storage.events.latest({ ...latest, type: 'payment.failed', limit: 21 }),
  // No index covers this filter, so the search gets its end as an argument.
  'events: 300 searched for a state that none has': ({ storage, size }) =>
    storage.events.latest({
      ...latest,
      after: Math.floor(size / 5) - 300,
      status: 'cancelled',
      endpointId: 'we_p1_a',
      limit: 21,
    }),
  'event: find': answering({}, (place) => {
    const row = old(place);
    return place.storage.events.find(ownerOf(row, place.size), idOf('evt', place, row));
  }),
  // Use a row of the newer half, because the event and all later ones of its sequence are kept.
  'deliver an event again': answering({ outcome: 'queued' }, (place) => {
    const row = Math.ceil((place.size + old(place)) / 2);
    const request = {
      eventId: idOf('evt', place, row),
      endpointId: null,
      deliveryId: newId('dl', systemRandom, now),
    };
    return place.storage.deliveries.redeliver({ ...ownerOf(row, place.size), ...request, ...again });
  }),
  'deliver the dropped ones again': answering({ outcome: 'queued' }, ({ storage, size }) => {
    const since = timeOf(size, size - recentOf(size) - 1_000);
    const request = { endpointId: 'we_p1_a', since, deliveryId: newId('dl', systemRandom, now), limit: 100 };
    return storage.deliveries.recover({ ...big, ...request, ...again });
  }),
  'deliveries: claim 4': async ({ storage, held }) => {
    const request = {
      claimId: randomUUID(),
      now,
      leaseMs: 30_000,
      limit: 4,
      endpointLimit: 4,
      endpointLimits: new Map(),
    };
    held.push(await storage.deliveries.claim(request));
  },
  'deliveries: write 4 results': answering([true, true, true, true], ({ storage, held }) =>
    storage.deliveries.finish((held.shift() ?? []).map(delivered)),
  ),
  'deliveries: newest first': ({ storage }) => storage.deliveries.list(list),
  'deliveries: newest first of a partner without new ones': ({ storage }) =>
    storage.deliveries.list({ ...list, ...gone }),
  'deliveries: a page far back': (place) => {
    const row = Math.ceil(old(place) / 5) * 5;
    const after = { time: timeOf(place.size, row), id: `${idOf('dl', place, row)}_1` };
    return place.storage.deliveries.list({ ...list, after });
  },
  'deliveries: of an event': (place) => {
    const row = old(place);
    return place.storage.deliveries.list({
      ...list,
      ...ownerOf(row, place.size),
      eventId: idOf('evt', place, row),
    });
  },
  'deliveries: of an endpoint': ({ storage }) => storage.deliveries.list(ofEndpoint),
  'deliveries: pending': ({ storage }) => storage.deliveries.list({ ...list, status: 'pending' }),
  'deliveries: dropped': ({ storage }) => storage.deliveries.list({ ...list, status: 'dropped' }),
  'deliveries: dropped of an endpoint without any': ({ storage }) =>
    storage.deliveries.list({ ...ofEndpoint, status: 'dropped' }),
  'deliveries: delivered to an endpoint': ({ storage }) =>
    storage.deliveries.list({ ...ofEndpoint, status: 'delivered' }),
};

/** Reads one event by its id, as fast as PostgreSQL and the disk allow. */
export const bareLookUp: Operation = (place) =>
  place.watched.own.query({
    name: 'bare',
    text: `SELECT body FROM "${place.schema}".events WHERE id = $1`,
    values: [idOf('evt', place, old(place))],
  });

/**
 * Calls that requests and workers make to a storage, ordered so that each call leaves rows for the next call.
 */
export const operations: Readonly<Record<string, Operation>> = {
  ...identities,
  ...payments,
  ...webhooks,
  'purge: 100 of each kind': ({ storage }) => {
    const later = now + spanMs / 2;
    const day = 24 * 3600_000;
    return storage.purge({ now: later, before: later - day, eventsBefore: later - spanMs, limit: 100 });
  },
};
