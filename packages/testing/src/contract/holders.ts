import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { assertSame, casesOf } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import { consented, now, sampleClient } from './samples.ts';

/** A partner with a client that the user has let read these scopes. */
async function holding(storage: Storage, slug: string, clientId = slug, scopes = ['openid', 'kyc']) {
  await storage.partners.insert(samplePartner({ slug }));
  await storage.clients.insert(sampleClient({ clientId, partner: slug }));
  await consented(storage, { clientId, scopes });
}

function holders({ events }: Storage, sub = 'user-1', scope = 'kyc') {
  return events.partnersHolding({ sub, scope });
}

export const holderCases = casesOf('holders', {
  'partners come once, by slug in code unit order': async (storage) => {
    assertSame(await holders(storage), []);
    for (const slug of ['b', 'a-', '10', 'a', '9']) await holding(storage, slug);
    await holding(storage, 'b', 'second client of b');
    assertSame(await holders(storage), ['10', '9', 'a', 'a-', 'b']);
  },

  'only what this user let them read counts': async (storage) => {
    await holding(storage, 'acme', 'acme', ['openid', 'kyc:full', 'KYC', '"kyc"', 'a","kyc","b']);
    await consented(storage, { sub: 'user-2', clientId: 'acme', scopes: ['kyc'] });
    assertSame(await holders(storage), []);
    assertSame(await holders(storage, 'user-1', 'kyc:full'), ['acme']);
    assertSame(await holders(storage, 'user-2'), ['acme']);
    assertSame(await holders(storage, 'USER-2'), []);
  },

  'clients of nobody, and partners that do not exist, are not asked': async (storage) => {
    await consented(storage, { clientId: 'of nobody', scopes: ['kyc'] });
    await storage.clients.insert(sampleClient({ clientId: 'stray', partner: 'unknown' }));
    await consented(storage, { clientId: 'stray', scopes: ['kyc'] });
    assertSame(await holders(storage), []);
  },

  'it ends with the consent, with the client and with the partner': async (storage) => {
    for (const slug of ['client', 'consent', 'partner']) await holding(storage, slug);
    assertSame(await holders(storage), ['client', 'consent', 'partner']);
    const disabled = { clientId: 'client', partner: 'client', disabledAt: now, version: 2 };
    assert.equal(await storage.clients.replace(sampleClient(disabled)), true);
    assertSame(await holders(storage), ['consent', 'partner']);
    assert.equal(await storage.consents.revoke('user-1', 'consent', now), true);
    assertSame(await holders(storage), ['partner']);
    const off = samplePartner({ slug: 'partner', disabledAt: now, version: 2 });
    assert.notEqual(await storage.partners.replace(off), null);
    assertSame(await holders(storage), []);
    await storage.partners.replace({ ...off, disabledAt: null, version: 3 });
    assertSame(await holders(storage), ['partner']);
  },
});
