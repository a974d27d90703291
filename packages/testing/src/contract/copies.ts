import { randomUUID } from 'node:crypto';
import type {
  AccessTokenState,
  IdempotencyClaim,
  NewAccessToken,
  NewRefreshToken,
  Storage,
} from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import {
  acme,
  created,
  executionOf,
  sampleApiKey,
  sampleClaim,
  sampleEvent,
  samplePartner,
  sampleTransfer,
  settle,
} from './partner-samples.ts';
import {
  consented,
  digestOf,
  issued,
  minute,
  now,
  redeem,
  sampleClient,
  sampleGrant,
  sampleKey,
  sampleRefreshToken,
  sampleToken,
} from './samples.ts';
import { claim, listed, redeliver, sampleAttempt, sampleEndpoint } from './webhook-samples.ts';

/** A storage call that stores its arguments, together with the call that reads them back. */
interface Row<Given extends object> {
  /**
   * Makes new arguments of the storage call, with the given text in fields that hold a caller's text. Each
   * label gives other arguments.
   */
  fresh(label: string, text: string): Given;
  /** Creates the records that the storage call requires. */
  prepare?(storage: Storage, given: Given, label: string): Promise<unknown>;
  store(storage: Storage, given: Given): Promise<unknown>;
  /** Returns a value that contains everything that the call stored. */
  read(storage: Storage, given: Given): Promise<unknown>;
}

/** Function that stores sample arguments, reads back what the storage keeps, and compares the two. */
type Tried = (storage: Storage, label: string, text: string, held: (value: object) => void) => Promise<void>;

const tried =
  <Given extends object>({ fresh, prepare, store, read }: Row<Given>): Tried =>
  async (storage, label, text, held) => {
    const given = fresh(label, text);
    await prepare?.(storage, given, label);
    const storing = store(storage, given);
    held(given);
    await storing;
    for (const moment of ['while it was saved', 'after it was read']) {
      const expected = fresh(label, text);
      const shown = await read(storage, expected);
      assertSame(likeness(shown, expected), expected, `${label} ${text}, ${moment}`);
      held(Object(shown));
    }
  };

/** Makes a refresh token of the grant that belongs to a label. */
const refreshTokenOf = (label: string, use: string): NewRefreshToken =>
  sampleRefreshToken(`${use} ${label}`, { family: digestOf(`family of ${label}`) });

/**
 * Returns an access token with the scopes, resources, expiry and key that a storage returned for it, to be
 * compared with the original.
 */
const tokenOf = (
  token: NewAccessToken,
  { scopes, resources, expiresAt, dpopJkt }: AccessTokenState,
): NewAccessToken => ({
  ...token,
  ...{ scopes, resources, expiresAt, dpopJkt },
});

/**
 * Presents a refresh token. Returns the token if the storage kept its digest and family; otherwise `null`.
 */
async function usable({ grants }: Storage, presented: NewRefreshToken): Promise<NewRefreshToken | null> {
  const label = Buffer.from(presented.digest).toString('hex');
  const { outcome } = await grants.refresh({
    presented,
    successor: { ...presented, digest: digestOf(`after ${label}`) },
    otherSuccessors: [],
    token: sampleToken(`use ${randomUUID()}`),
    graceMs: minute,
    maxAccessTokens: 10,
    now,
  });
  return outcome === 'refreshed' ? presented : null;
}

/** Returns the claim that stored the record of an idempotency key; `null` if there is no record. */
async function recordOf({ idempotency }: Storage, given: Omit<IdempotencyClaim, 'answer'>): Promise<unknown> {
  const found = await idempotency.find({ ...given, now });
  return found && { ...given, ...found };
}

const answering = (body: string) => ({ answer: { status: 201, body } });
const treeOf = (text: string) => ({ list: [text], ...Object.fromEntries([[text, { [text]: text }]]) });

/**
 * Checks by the kind of record: each stores a sample record and compares what is read back. Later checks may
 * use what earlier ones stored.
 */
export const storedRows: Readonly<Record<string, Tried>> = {
  'a client': tried({
    fresh: (label, text) =>
      sampleClient({ clientId: label, name: text, redirectUris: [text], allowedScopes: [text] }),
    store: ({ clients }, client) => clients.insert(client),
    read: ({ clients }, { clientId }) => clients.find(clientId),
  }),
  'a partner': tried({
    fresh: (slug, name) => samplePartner({ slug, name }),
    store: ({ partners }, partner) => partners.insert(partner),
    read: ({ partners }, { slug }) => partners.find(slug),
  }),
  'an API key': tried({
    fresh: (label, text) =>
      sampleApiKey(label, { partner: label, name: text, allowlist: [text], sealedSigningSecret: text }),
    store: ({ apiKeys }, key) => apiKeys.insert(key),
    read: ({ apiKeys }, { id }) => apiKeys.find(id),
  }),
  'a signing key': tried({
    fresh: (label, text) => sampleKey(label, { publicJwk: text, sealedPrivateJwk: `sealed ${text}` }),
    store: ({ signingKeys }, key) => signingKeys.insert(key),
    read: async ({ signingKeys }, { kid }) => (await signingKeys.list()).find((key) => key.kid === kid),
  }),
  'an interaction': tried({
    fresh: (label, text) => ({ digest: digestOf(label), payload: treeOf(text) }),
    store: ({ interactions }, { digest, payload }) => interactions.save(digest, payload, now + minute),
    read: async ({ interactions }, { digest }) => ({ digest, payload: await interactions.find(digest, now) }),
  }),
  'a grant': tried({
    fresh: (label, text) => {
      const fields = {
        ...{ scopes: [text], resources: [text], redirectUri: text },
        ...{ codeChallenge: text, nonce: text, dpopJkt: text },
      };
      return sampleGrant(label, { sub: label, ...fields });
    },
    prepare: (storage, grant) => consented(storage, grant),
    store: ({ grants }, grant) => grants.issue(grant),
    read: ({ grants }, { codeDigest }) => grants.find(codeDigest),
  }),
  'a redemption': tried({
    fresh: (label, text) => ({
      codeDigest: digestOf(`code used ${label}`),
      token: sampleToken(label, { scopes: [text], resources: [text, 'another'], dpopJkt: text }),
      refreshToken: refreshTokenOf(`redemption ${label}`, 'first'),
    }),
    prepare: (storage, _given, label) => issued(storage, `used ${label}`),
    store: ({ grants }, given) => grants.redeem({ ...given, maxFailedVerifiers: 5, now }),
    read: async (storage, { token, refreshToken, ...given }) => {
      const found = await storage.grants.findToken(token.digest);
      return {
        ...given,
        token: found && tokenOf(token, found),
        refreshToken: await usable(storage, refreshToken),
      };
    },
  }),
  'a refresh': tried({
    fresh: (label, text) => ({
      presented: refreshTokenOf(`refresh ${label}`, 'first'),
      token: sampleToken(`refreshed ${label}`, {
        scopes: [text],
        resources: [text, 'another'],
        dpopJkt: text,
      }),
      successor: refreshTokenOf(`refresh ${label}`, 'refreshed'),
      otherSuccessors: [digestOf(`other ${label}`)],
    }),
    prepare: async (storage, _given, label) => {
      const grant = await issued(storage, `refreshed ${label}`);
      const refreshToken = refreshTokenOf(`refresh ${label}`, 'first');
      await redeem(storage, grant, sampleToken(`first ${label}`), { refreshToken });
    },
    store: ({ grants }, given) => grants.refresh({ ...given, graceMs: 0, maxAccessTokens: 10, now }),
    read: async (storage, { token, successor, ...given }) => {
      const found = await storage.grants.findToken(token.digest);
      return {
        ...given,
        token: found && tokenOf(token, found),
        successor: await usable(storage, successor),
      };
    },
  }),
  'a transfer, its job, and the record of its key': tried({
    fresh: (label, text) => {
      const fields = { description: text, recipientKid: text, reference: text, metadata: treeOf(text) };
      const transfer = sampleTransfer(label, fields);
      const job = { ...executionOf(transfer), kind: `kind ${text}`, payload: { text } };
      return { transfer, job, idempotency: sampleClaim(label, answering(text)) };
    },
    store: ({ transfers }, given) => transfers.create({ ...given, now }),
    read: async (storage, { transfer, job, idempotency }) => ({
      transfer: await storage.transfers.findById(transfer.id),
      job: (await storage.queue.claim({ kinds: [job.kind], claimId: 'c', now, leaseMs: 0, limit: 1 }))[0],
      idempotency: await recordOf(storage, idempotency),
    }),
  }),
  'why a transfer failed': tried({
    fresh: (label, text) => ({ id: `tr_failed ${label}`, failure: { code: text, message: text } }),
    prepare: (storage, _given, label) => created(storage, `failed ${label}`),
    store: (storage, { id, failure }) => settle(storage, { id, status: 'failed', failure, now }),
    read: ({ transfers }, { id }) => transfers.findById(id),
  }),
  'a webhook endpoint, and the record of its key': tried({
    fresh: (label, text) => ({
      endpoint: sampleEndpoint(label, { url: text, events: [text] }),
      idempotency: sampleClaim(`endpoint ${label}`, answering(text)),
    }),
    store: ({ webhooks }, given) => webhooks.create({ ...given, max: 99, now }),
    read: async (storage, { endpoint, idempotency }) => ({
      endpoint: await storage.webhooks.find(acme, endpoint.id),
      idempotency: await recordOf(storage, idempotency),
    }),
  }),
  'a changed webhook endpoint': tried({
    fresh: (label, text) => sampleEndpoint(label, { url: text, events: ['kyc.updated', text], version: 2 }),
    store: ({ webhooks }, endpoint) => webhooks.replace(endpoint, now),
    read: ({ webhooks }, { id }) => webhooks.find(acme, id),
  }),
  'a secret that is sealed anew': tried({
    fresh: (label, text) => [{ id: `we_${label}`, before: `sealed ${label}`, sealed: text }],
    store: ({ webhooks }, secrets) => webhooks.reseal(secrets),
    read: async ({ webhooks }, secrets) => {
      const page = await webhooks.listSealed({ after: null, limit: 99 });
      return secrets.map((secret) => ({ ...secret, ...page.find(({ id }) => id === secret.id) }));
    },
  }),
  'an event': tried({
    fresh: (label, text) => [sampleEvent(label, { type: text, body: text })],
    store: ({ events }, all) => events.publish(all, { idempotency: null, now }),
    read: ({ events }, all) =>
      Promise.all(all.map(async (event) => ({ ...event, ...(await events.find(acme, event.id)) }))),
  }),
  'the record of the key of a redelivery': tried({
    fresh: (label) => {
      const { answer: _, ...claimed } = sampleClaim(`redelivery of ${label}`);
      return { eventId: `evt_${label}`, idempotency: claimed };
    },
    store: (storage, { eventId, idempotency }) =>
      redeliver(storage, eventId, `again ${idempotency.key}`, { idempotency }),
    read: async (storage, { eventId, idempotency }) => ({
      eventId,
      idempotency: await recordOf(storage, idempotency),
    }),
  }),
  'the result of a delivery': tried({
    fresh: (label, text) => {
      const attempt = sampleAttempt(1, { error: text, response: text });
      const next = { status: 'delivered' } as const;
      return [{ id: `dl_${label}_1`, claimId: label, attempt, isCutOff: false, next }];
    },
    prepare: (storage, _given, label) => claim(storage, label),
    store: ({ deliveries }, results) => deliveries.finish(results),
    read: async (storage, results) => {
      const shown = await listed(storage);
      return results.map((result) => {
        const { status, attempts = [] } = shown.find(({ id }) => id === result.id) ?? {};
        return { ...result, attempt: attempts[0], next: { status } };
      });
    },
  }),
};

/** Overwrites everything in an object, to check that the storage kept its own copy. */
function scramble(value: object): void {
  if (value instanceof Uint8Array) return void value.fill(0);
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) scramble(member);
    else Reflect.set(value, name, 'scrambled');
  }
  if (Array.isArray(value)) value.push('scrambled');
}

/** Reduces a value to the members that an example value has. */
function likeness(value: unknown, example: unknown): unknown {
  const isPlain = (one: unknown) => typeof one === 'object' && one !== null && !(one instanceof Uint8Array);
  if (!isPlain(value) || !isPlain(example)) return value;
  const [all, some] = [Object(value), Object(example)];
  if (Array.isArray(all)) return all.map((one, index) => likeness(one, some[index]));
  return Object.fromEntries(Object.keys(some).map((name) => [name, likeness(all[name], some[name])]));
}

export const copyCases = casesOf('storage', {
  'what a caller holds is a copy': async (storage) => {
    for (const row of Object.values(storedRows)) await row(storage, 'copied', 'kept', scramble);
  },
});
