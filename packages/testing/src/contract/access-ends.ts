import assert from 'node:assert/strict';
import type { GrantRecord, NewAccessToken, Storage } from '@ostiary/core/storage';
import { alternating, casesOf } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import {
  consented,
  isLive,
  issued,
  minute,
  now,
  redeem,
  redeemed,
  sampleClient,
  sampleGrant,
  sampleToken,
} from './samples.ts';

/** A grant with its access token, for a client of a partner. */
interface Access {
  readonly grant: GrantRecord;
  readonly token: NewAccessToken;
  readonly partner: string;
}

/** Users and clients. The first client belongs to `acme`, and the others to no partner. */
const parties = {
  own: { sub: 'user-1', clientId: 'client-1' },
  'other user': { sub: 'user-2', clientId: 'client-1' },
  'other client': { sub: 'user-1', clientId: 'client-2' },
  'look-alike': { sub: 'USER-1', clientId: 'client-3' },
} as const;

type Party = keyof typeof parties;

/**
 * A storage call that ends access of clients. Each call ends the access token of `own`, the first of
 * {@link parties}.
 */
interface End {
  end(storage: Storage, of: Access, at: number): Promise<unknown>;
  /** Undoes the end of access as far as possible, such as by enabling the client again. */
  undo?(storage: Storage): Promise<unknown>;
  /** Users and clients of which all grants end. Empty for a call that ends a single grant or token. */
  readonly grantsOf: readonly Party[];
  readonly consentsOf: readonly Party[];
}

const ends: Readonly<Record<string, End>> = {
  'a token is revoked': {
    end: ({ grants }, { token }, at) => grants.revokeToken(token.digest, at),
    grantsOf: [],
    consentsOf: [],
  },
  'a grant is revoked': {
    end: ({ grants }, { grant }, at) => grants.revoke(grant.codeDigest, at),
    grantsOf: [],
    consentsOf: [],
  },
  'a consent is revoked': {
    end: ({ consents }, { grant: { sub, clientId } }, at) => consents.revoke(sub, clientId, at),
    grantsOf: ['own'],
    consentsOf: ['own'],
  },
  'a user is ended': {
    end: ({ consents }, { grant: { sub } }, at) => consents.endUser(sub, at, []),
    grantsOf: ['own', 'other client'],
    consentsOf: ['own', 'other client'],
  },
  'a client is disabled': {
    end: ({ clients }, { grant: { clientId }, partner }, at) =>
      clients.replace(sampleClient({ clientId, partner, version: 2, disabledAt: at })),
    undo: ({ clients }) => clients.replace(sampleClient({ partner: 'acme', version: 3 })),
    grantsOf: ['own', 'other user'],
    consentsOf: ['own', 'other user'],
  },
  'a partner is disabled': {
    end: ({ partners }, { partner: slug }, at) =>
      partners.replace(samplePartner({ slug, version: 2, disabledAt: at, updatedAt: at })),
    undo: ({ partners }) => partners.replace(samplePartner({ version: 3 })),
    grantsOf: ['own', 'other user'],
    consentsOf: [],
  },
};

/** Stores a partner with one client. */
async function provisioned(storage: Storage, slug: string, clientId: string): Promise<void> {
  assert.equal(await storage.partners.insert(samplePartner({ slug })), true);
  assert.equal(await storage.clients.insert(sampleClient({ clientId, partner: slug })), true);
}

async function endsForGood(storage: Storage, name: string): Promise<void> {
  const { end, undo, grantsOf, consentsOf } = ends[name] ?? assert.fail(name);
  await provisioned(storage, 'acme', 'client-1');
  const all = new Map<Party, Access & { readonly code: GrantRecord }>();
  for (const label of Object.keys(parties) as Party[]) {
    const used = await redeemed(storage, label, parties[label]);
    const code = await issued(storage, `code of ${label}`, parties[label]);
    all.set(label, { ...used, partner: 'acme', code });
  }
  const own = all.get('own') ?? assert.fail();

  // A repeated call must not change anything.
  for (const at of [now + 2, now + 3]) await end(storage, own, at);

  const revokes = name === 'a grant is revoked' ? ['own'] : grantsOf;
  for (const [label, { grant, token, code }] of all) {
    assert.equal(await isLive(storage, token), !grantsOf.includes(label) && label !== 'own', label);
    const state = await storage.grants.find(grant.codeDigest);
    assert.equal(state?.revokedAt, revokes.includes(label) ? now + 2 : null, label);
    const answer = grantsOf.includes(label) ? 'refused' : 'redeemed';
    assert.equal(await redeem(storage, code, sampleToken(`late ${label}`)), answer, label);
    const consent = await storage.consents.find(grant.sub, grant.clientId);
    assert.equal(consent === null, consentsOf.includes(label), label);
  }

  await undo?.(storage);
  assert.equal(await isLive(storage, own.token), false, 'nothing comes back');
  assert.notEqual(await redeem(storage, own.code, sampleToken('later')), 'redeemed');
  const consent = await storage.consents.find('user-1', 'client-1');
  assert.equal(consent === null, consentsOf.includes('own'));
  assert.equal(await isLive(storage, (await redeemed(storage, 'new')).token), true, 'it begins anew');
}

/**
 * Checks in races that codes, tokens and consents which are stored while their access ends do not stay valid,
 * whichever call comes first.
 */
async function endsWhatIsGiven(storage: Storage, name: string): Promise<void> {
  const { end, grantsOf, consentsOf } = ends[name] ?? assert.fail(name);
  for (let round = 0; round < 20; round += 1) {
    const [partner, clientId, sub, stranger] = [
      `p${round}`,
      `client ${round}`,
      `user ${round}`,
      `new ${round}`,
    ];
    await provisioned(storage, partner, clientId);
    await consented(storage, { sub, clientId });
    const grant = await issued(storage, `held ${round}`, { clientId, sub });
    const late = sampleGrant(`late ${round}`, { clientId, sub });
    const token = sampleToken(clientId);
    await alternating<unknown>(round, [
      () => storage.grants.issue(late),
      () => redeem(storage, grant, token),
      () => storage.consents.remember({ sub: stranger, clientId, scopes: ['openid'], now }),
      () => end(storage, { grant, token, partner }, now + minute),
    ]);
    assert.equal(await isLive(storage, token), false);
    assert.notEqual(await redeem(storage, grant, sampleToken(`again ${round}`)), 'redeemed');
    const state = await storage.grants.find(late.codeDigest);
    if (grantsOf.length > 0) assert.ok(state === null || state.revokedAt !== null, 'not stored, or revoked');
    const given: readonly [Party, string][] = [
      ['own', sub],
      ['other user', stranger],
    ];
    for (const [party, of] of given)
      if (consentsOf.includes(party)) assert.equal(await storage.consents.find(of, clientId), null, party);
  }
}

const names = Object.keys(ends);

export const accessEndCases = casesOf('the end of access', {
  ...Object.fromEntries(
    names.map((name) => [
      `when ${name}, what it gave ends for good, and nothing else`,
      (storage: Storage) => endsForGood(storage, name),
    ]),
  ),
  ...Object.fromEntries(
    names
      .filter((name) => name !== 'a token is revoked')
      .map((name) => [
        `when ${name} while codes, tokens and consents are given, none is left alive`,
        (storage: Storage) => endsWhatIsGiven(storage, name),
      ]),
  ),
});
