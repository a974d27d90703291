import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { assertSame, casesOf, inParallel } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import { consented, now, sampleClient } from './samples.ts';

const scopes = ['openid', 'kyc'];
const asked = ['acme', 'other', 'third', 'ACME', '', 'null', 'client-1'];

/**
 * Returns the partners whose clients have a user's consent. Checks that two calls agree: the call that lists
 * the partners, and the call that checks a single partner.
 */
async function holders({ consents, events }: Storage, sub = 'user-1', scope = 'kyc'): Promise<string[]> {
  const named = await events.partnersHolding({ sub, scope });
  for (const partner of asked) {
    assert.equal(await consents.partnerHolds({ partner, sub, scope }), named.includes(partner), partner);
  }
  return named;
}

/** Stores a client, with or without a partner, and the sample user's consent to the sample scopes. */
async function holding(storage: Storage, slug: string | null, clientId: string): Promise<void> {
  if (slug !== null) await storage.partners.insert(samplePartner({ slug }));
  await storage.clients.insert(sampleClient({ clientId, partner: slug }));
  await consented(storage, { clientId, scopes });
}

/** Stores two partners with a client each, and a client without a partner. */
async function related(storage: Storage): Promise<void> {
  await holding(storage, 'acme', 'client-1');
  await holding(storage, 'other', 'client-2');
  await holding(storage, null, 'client-3');
}

export const holderCases = casesOf('consents of partners', {
  'a partner holds what a user let its client read, and nothing else': async (storage) => {
    assertSame(await holders(storage), []);
    await related(storage);
    assertSame(await holders(storage), ['acme', 'other']);
    const odd = ['openid', 'kyc:full', 'KYC', '"kyc"', 'a","kyc","b'];
    await consented(storage, { sub: 'user-3', scopes: odd });
    assertSame(await holders(storage, 'user-3', 'kyc:full'), ['acme']);
    const others = [
      ['user-2', 'kyc'],
      ['USER-1', 'kyc'],
      ['user-1', 'profile'],
      ['user-1', 'KYC'],
      ['user-1', 'ky'],
      ['user-1', ''],
      ['user-3', 'kyc'],
    ] as const;
    for (const [sub, scope] of others) assertSame(await holders(storage, sub, scope), [], `${sub} ${scope}`);
  },

  'asked together, each partner and user has its own answer': async (storage) => {
    await related(storage);
    const held = { partner: 'acme', sub: 'user-1', scope: 'kyc' };
    const asked = [
      held,
      { ...held, sub: 'user-2' },
      { ...held, partner: 'third' },
      { ...held, partner: 'other' },
    ];
    const found = await inParallel(40, (index) => storage.consents.partnerHolds(asked[index % 4] ?? held));
    assertSame(
      found,
      found.map((_, index) => index % 4 === 0 || index % 4 === 3),
    );
  },

  'they come once, by slug in code unit order': async (storage) => {
    for (const slug of ['b', 'a-', '10', 'a', '9']) await holding(storage, slug, slug);
    await holding(storage, 'b', 'second client of b');
    assertSame(await holders(storage), ['10', '9', 'a', 'a-', 'b']);
  },

  'a partner that does not exist is not asked': async (storage) => {
    await storage.clients.insert(sampleClient({ clientId: 'stray', partner: 'unknown' }));
    await consented(storage, { clientId: 'stray', scopes });
    assertSame(await storage.events.partnersHolding({ sub: 'user-1', scope: 'kyc' }), []);
  },

  'it ends with the consent': async (storage) => {
    await related(storage);
    const remember = (given: readonly string[], at: number) =>
      storage.consents.remember({ sub: 'user-1', clientId: 'client-1', scopes: given, now: at });
    await storage.consents.revoke('user-1', 'client-1', now + 1);
    assertSame(await holders(storage), ['other'], 'revoked');
    await remember(['openid'], now + 2);
    assertSame(await holders(storage), ['other'], 'a new consent without the scope');
    await remember(['kyc'], now + 3);
    assertSame(await holders(storage), ['acme', 'other'], 'extended');
    await storage.consents.endUser('user-1', now + 4, []);
    assertSame(await holders(storage), [], 'the user is ended');
  },

  'one of several clients is enough': async (storage) => {
    await related(storage);
    await holding(storage, 'acme', 'client-4');
    await storage.consents.revoke('user-1', 'client-1', now + 1);
    assertSame(await holders(storage), ['acme', 'other']);
    await storage.consents.revoke('user-1', 'client-4', now + 1);
    assertSame(await holders(storage), ['other']);
  },

  'it ends with the client for good, and with the partner until it is enabled': async (storage) => {
    await related(storage);
    const client = (version: number, disabledAt: number | null) =>
      storage.clients.replace(sampleClient({ partner: 'acme', version, disabledAt }));
    const partner = (version: number, disabledAt: number | null) =>
      storage.partners.replace(samplePartner({ slug: 'other', version, disabledAt }));
    await client(2, now + 1);
    assertSame(await holders(storage), ['other']);
    await client(3, null);
    assertSame(await holders(storage), ['other'], 'enabling brings nothing back');
    await consented(storage, { scopes });
    assertSame(await holders(storage), ['acme', 'other']);
    await partner(2, now + 1);
    assertSame(await holders(storage), ['acme']);
    await partner(3, null);
    assertSame(await holders(storage), ['acme', 'other']);
  },

  'it follows a client that gets, changes or loses its partner': async (storage) => {
    await related(storage);
    const steps = [
      [2, 'other', ['other']],
      [3, null, ['other']],
      [4, 'acme', ['acme', 'other']],
    ] as const;
    for (const [version, partner, expected] of steps) {
      assert.equal(await storage.clients.replace(sampleClient({ version, partner })), true);
      assertSame(await holders(storage), expected, `version ${version}`);
    }
    const change = (partner: string | null) =>
      storage.clients.replace(sampleClient({ clientId: 'client-2', version: 2, partner }));
    assert.equal(await change(null), true);
    assertSame(await holders(storage), ['acme']);
    assert.equal(await change('other'), false);
    assertSame(await holders(storage), ['acme'], 'a refused change gives nothing');
  },
});
