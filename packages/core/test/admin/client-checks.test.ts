import { expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const admin = provider.ostiary.admin.clients;

const settings = (changes: object = {}): NewClient => ({
  name: 'App',
  redirectUris: ['https://app.example/'],
  allowedScopes: ['openid'],
  ...changes,
});

it('refuses to remove a scope that defaultScope contains, until that is changed, too', async () => {
  const scopes = { allowedScopes: ['openid', 'kyc'] as const, defaultScope: 'openid kyc' };
  const { client } = await admin.create(settings(scopes));
  const narrow = { allowedScopes: ['openid'] as const };
  await expect(admin.update(client.clientId, narrow)).rejects.toThrow(/^defaultScope: kyc is not among/);
  const changed = await admin.update(client.clientId, { ...narrow, defaultScope: null });
  expect([changed.allowedScopes, changed.defaultScope]).toEqual([['openid'], null]);
});

it('refuses requireSecret for a public client', async () => {
  const { client } = await admin.create(settings({ public: true }));
  await expect(admin.update(client.clientId, { requireSecret: true })).rejects.toThrow(/requireSecret/);
});
