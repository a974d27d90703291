import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import { expectPlain } from '../support/plain-words.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const admin = provider.ostiary.admin.clients;

const settings = (changes: object = {}): NewClient => ({
  name: 'App',
  redirectUris: ['https://app.example/'],
  allowedScopes: ['openid'],
  ...changes,
});
const typeErrorAbout = (path: string) => (error: unknown) => {
  expectPlain(String(error), path);
  return error instanceof TypeError && error.message.includes(path);
};

describe('the settings of a client', () => {
  it('takes every setting, and makes a public one without a secret', async () => {
    const switches = { requirePkce: true, requireSecret: true, firstParty: true };
    const given = { clientId: 'My_client-1', idTokenAlg: 'ES256', ...switches };
    expect((await admin.create(settings(given))).client).toMatchObject(given);
    const scopes = { allowedScopes: ['openid', 'kyc'], defaultScope: ' kyc  openid kyc' };
    const created = await admin.create(settings({ ...scopes, refreshWithoutOfflineAccess: true }));
    expect(created.client).toMatchObject({ defaultScope: 'kyc openid', refreshWithoutOfflineAccess: true });
    const app = { public: true, redirectUris: ['com.example.app:/cb'] };
    const { client, clientSecret } = await admin.create(settings(app));
    expect([client, clientSecret]).toMatchObject([{ ...app, secrets: [] }, null]);
  });

  const refused: readonly (readonly [path: string, ...wrong: object[]])[] = [
    ['name: ', { name: '' }, { name: ' ' }, { name: 'x'.repeat(101) }, { name: undefined }],
    ['redirectUris: ', { redirectUris: [] }, { redirectUris: 'https://app.example/' }],
    [
      'redirectUris.0: ',
      { redirectUris: ['http://app.example/'] },
      { redirectUris: ['com.example.app:/cb'] },
    ],
    ['allowedScopes: ', { allowedScopes: [] }],
    ['allowedScopes.1: ', { allowedScopes: ['openid', 'email'] }],
    [
      'defaultScope: ',
      ...['', ' ', 'kyc', 'openid kyc', 'OpenID', 'openid,kyc', ['openid']].map((defaultScope) => ({
        defaultScope,
      })),
    ],
    ['requirePkce: ', { requirePkce: 'yes' }],
    ['refreshWithoutOfflineAccess: ', { refreshWithoutOfflineAccess: 'yes' }],
    ['requireSecret: ', { requireSecret: 1 }, { public: true, requireSecret: true }],
    ['idTokenAlg: ', { idTokenAlg: 'HS256' }],
    ['clientId: ', ...['a b', '', 'x'.repeat(256), 'a:b'].map((clientId) => ({ clientId }))],
    ['clientSecret', { clientSecret: 'mine' }],
    ['scope', { scope: 'openid' }],
  ];

  it('refuses what cannot be right, and names it', async () => {
    const before = await admin.list({ limit: 500 });
    for (const [path, ...wrong] of refused)
      for (const changes of wrong)
        await expect(admin.create(settings(changes)), path).rejects.toSatisfy(typeErrorAbout(path));
    expect(await admin.list({ limit: 500 })).toEqual(before);
  });
});
