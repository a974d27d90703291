import { OstiaryPartner } from '@ostiary/client-sdk';
import { createOstiary, type Ostiary, type OstiaryOptions } from '@ostiary/core';
import { createTestOstiary, type TestOstiary } from '@ostiary/testing';
import { memoryStorage } from '@ostiary/testing/memory';
import { afterwards } from '../../../../packages/core/test/support/running.ts';

/** Starts a service with its own clock. */
export async function newKit(): Promise<TestOstiary> {
  const kit = await createTestOstiary();
  afterwards(() => kit.close());
  return kit;
}

/** Creates the SDK for a service. */
export const partnerOf = (kit: TestOstiary): OstiaryPartner =>
  new OstiaryPartner({
    apiKey: kit.keys.live.key,
    baseUrl: kit.baseUrl,
    fetch: kit.fetch,
    now: kit.clock.now,
    sleep: kit.clock.advance,
  });

const user = {
  sub: 'user-17',
  kid: 'KID-17',
  role: 'member',
  country: 'HT',
  createdAt: '2026-01-01T00:00:00Z',
};

/** Opens the reader's installation of Ostiary, on loopback URLs. */
export async function installation(origin: string, more: Partial<OstiaryOptions> = {}): Promise<Ostiary> {
  const ostiary = await createOstiary({
    authUrl: origin,
    storage: memoryStorage(),
    sealingKeys: [new Uint8Array(32).fill(7)],
    users: { find: () => user, findByKid: () => user, findByPhone: () => user },
    login: { authenticate: () => ({ sub: user.sub, authenticatedAt: new Date() }), loginUrl: () => '/login' },
    payments: { execute: async () => ({ status: 'completed' }) },
    ...more,
  });
  afterwards(() => ostiary.close());
  return ostiary;
}
