import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOstiary, type Ostiary, silentLogger, type UserRecord } from '@ostiary/core';
import { postgresStorage } from '../src/index.ts';

const user: UserRecord = {
  sub: 'ana',
  kid: 'KID-ANA',
  role: 'user',
  country: 'HT',
  createdAt: '2020-01-01T00:00:00.000Z',
  name: 'Ana',
  handle: 'ana',
  avatarUrl: null,
  kycTier: 1,
  kycStatus: 'approved',
  htgBalance: '0.00',
  usdBalance: '0.00',
  trustScore: 1,
  trustTier: 'new',
  activeCredentials: [],
};

/** A provider that listens, on connections of its own. */
export interface TestProvider {
  readonly ostiary: Ostiary;
  readonly origin: string;
  stop(): Promise<void>;
}

export async function startProvider(options: {
  readonly url: string;
  readonly schema: string;
  readonly sealingKey: string;
}): Promise<TestProvider> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const find = async () => user;
  const ostiary = await createOstiary({
    storage: postgresStorage({ connectionString: options.url, schema: options.schema }),
    authUrl: origin,
    sealingKeys: [options.sealingKey],
    users: { find, findByKid: find, findByPhone: find },
    login: { authenticate: async () => null, loginUrl: () => '/login' },
    payments: { execute: async () => ({ status: 'pending' }) },
    // More than any test asks for.
    partnerLimits: { other: { requests: 1_000_000, windowSeconds: 60 } },
    // Keys are held on purpose, until requests give up.
    logger: silentLogger,
  });
  http.on('request', ostiary.handler);
  return {
    ostiary,
    origin,
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await ostiary.close();
    },
  };
}
