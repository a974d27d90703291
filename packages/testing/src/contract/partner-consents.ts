import assert from 'node:assert/strict';
import type { Storage } from '@ostiary/core/storage';
import { casesOf } from './case.ts';
import { samplePartner } from './partner-samples.ts';
import { now, sampleClient } from './samples.ts';

const scopes = ['openid', 'kyc'];

function holds({ consents }: Storage, partner = 'acme', sub = 'user-1', scope = 'kyc'): Promise<boolean> {
  return consents.partnerHolds({ partner, sub, scope });
}

/** Two partners, a client of each, one of nobody; a user who let all of them read `kyc`. */
async function related(storage: Storage): Promise<void> {
  for (const [clientId, partner] of [
    ['client-1', 'acme'],
    ['client-2', 'other'],
    ['client-3', null],
  ] as const) {
    if (partner !== null) await storage.partners.insert(samplePartner({ slug: partner }));
    await storage.clients.insert(sampleClient({ clientId, partner }));
    assert.equal(await storage.consents.remember({ sub: 'user-1', clientId, scopes, now }), true);
  }
}

export const partnerConsentCases = casesOf('consents of partners', {
  'a partner holds what a user let its client read, and nothing else': async (storage) => {
    assert.equal(await holds(storage), false);
    await related(storage);
    assert.equal(await holds(storage), true);
    assert.equal(await holds(storage, 'other'), true);
    const others = [
      ['third'],
      ['ACME'],
      [''],
      ['null'],
      ['acme', 'user-2'],
      ['acme', 'USER-1'],
      ['acme', 'user-1', 'profile'],
      ['acme', 'user-1', 'KYC'],
      ['acme', 'user-1', 'ky'],
      ['acme', 'user-1', ''],
      ['client-1'],
    ] as const;
    for (const [partner, sub, scope] of others) {
      assert.equal(await holds(storage, partner, sub, scope), false, `${partner} ${sub} ${scope}`);
    }
  },

  'it ends with the consent': async (storage) => {
    await related(storage);
    await storage.consents.revoke('user-1', 'client-1', now + 1);
    assert.equal(await holds(storage), false, 'revoked');
    assert.equal(await holds(storage, 'other'), true, 'and of no other partner');
    await storage.consents.remember({
      sub: 'user-1',
      clientId: 'client-1',
      scopes: ['openid'],
      now: now + 2,
    });
    assert.equal(await holds(storage), false, 'a new consent without the scope');
    await storage.consents.remember({ sub: 'user-1', clientId: 'client-1', scopes: ['kyc'], now: now + 3 });
    assert.equal(await holds(storage), true, 'extended');
    await storage.consents.endUser('user-1', now + 4);
    assert.equal(await holds(storage), false, 'the user is ended');
    assert.equal(await holds(storage, 'other'), false);
  },

  'one of several clients is enough': async (storage) => {
    await related(storage);
    await storage.clients.insert(sampleClient({ clientId: 'client-4', partner: 'acme' }));
    await storage.consents.remember({ sub: 'user-1', clientId: 'client-4', scopes, now });
    await storage.consents.revoke('user-1', 'client-1', now + 1);
    assert.equal(await holds(storage), true);
    await storage.consents.revoke('user-1', 'client-4', now + 1);
    assert.equal(await holds(storage), false);
  },

  'it ends when the client is disabled, and enabling brings nothing back': async (storage) => {
    await related(storage);
    const change = (version: number, disabledAt: number | null) =>
      storage.clients.replace(sampleClient({ partner: 'acme', version, disabledAt }));
    await change(2, now + 1);
    assert.equal(await holds(storage), false);
    assert.equal(await holds(storage, 'other'), true);
    await change(3, null);
    assert.equal(await holds(storage), false);
    await storage.consents.remember({ sub: 'user-1', clientId: 'client-1', scopes, now: now + 2 });
    assert.equal(await holds(storage), true);
  },

  'it follows a client that gets, changes or loses its partner': async (storage) => {
    await related(storage);
    const steps = [
      [2, 'other', [false, true]],
      [3, null, [false, true]],
      [4, 'acme', [true, true]],
    ] as const;
    for (const [version, partner, expected] of steps) {
      assert.equal(await storage.clients.replace(sampleClient({ version, partner })), true);
      assert.deepEqual([await holds(storage), await holds(storage, 'other')], expected, `version ${version}`);
    }
    await storage.clients.replace(sampleClient({ clientId: 'client-2', version: 2, partner: null }));
    assert.equal(await holds(storage, 'other'), false);
    const stale = sampleClient({ clientId: 'client-2', version: 2, partner: 'other' });
    assert.equal(await storage.clients.replace(stale), false);
    assert.equal(await holds(storage, 'other'), false, 'a refused change gives nothing');
  },
});
