import { memoryStorage } from '@ostiary/testing/memory';
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createOstiary, type Ostiary, type OstiaryOptions } from '../../src/index.ts';

const authUrl = 'https://id.example.com';
const orders = z.array(z.string());
const consent = {
  en: { title: 'See your orders', detail: 'What you bought.' },
  fr: { title: 'Voir vos commandes', detail: 'Ce que vous avez acheté.' },
};

it('claims of users are typed by the checks of their scopes', async () => {
  const ostiary = await createOstiary({
    authUrl: authUrl,
    storage: memoryStorage(),
    sealingKeys: [new Uint8Array(32)],
    login: { authenticate: () => null, loginUrl: () => '/login' },
    scopes: {
      email: true,
      'orders:read': { consent },
      history: { claims: { orders: z.array(z.string()) }, consent },
      points: { claims: { points: z.number() }, consent },
    },
    users: { find: (sub) => ({ sub, claims: { orders: ['A-1'], points: undefined } }) },
  });
  await ostiary.close();
  type Scopes = { history: { claims: { orders: typeof orders }; consent: typeof consent } };
  type Find = OstiaryOptions<Scopes>['users']['find'];
  expectTypeOf<(sub: string) => { sub: string; claims: { orders: string[] } }>().toExtend<Find>();
  expectTypeOf<(sub: string) => { sub: string; claims: { orders: string } }>().not.toExtend<Find>();
  type Given<Points> = Omit<OstiaryOptions, 'scopes' | 'users'> & {
    scopes: { points: { claims: { points: z.ZodNumber }; consent: typeof consent } };
    users: { find(sub: string): Promise<{ sub: string; claims: { points: Points } }> };
  };
  expectTypeOf(createOstiary).toExtend<(given: Given<number>) => unknown>();
  expectTypeOf(createOstiary).not.toExtend<(given: Given<string>) => unknown>();
});

it('the names of scopes are known to the compiler, where the options are', async () => {
  const open = (scopes: object = {}) => ({
    ...{ authUrl: authUrl, storage: memoryStorage(), sealingKeys: [new Uint8Array(32)] },
    login: { authenticate: () => null, loginUrl: () => '/login' },
    users: { find: async (sub: string) => ({ sub }) },
    ...scopes,
  });
  const app = { name: 'App', redirectUris: ['https://app.example/'] };
  const ostiary = await createOstiary({ ...open(), scopes: { email: true, 'orders:read': { consent } } });
  await ostiary.admin.clients.create({ ...app, allowedScopes: ['openid', 'email', 'orders:read'] });
  expect(await ostiary.tokens.verify('', { scopes: ['orders:read'] })).toMatchObject({ reason: 'malformed' });
  type Verified = Parameters<typeof ostiary.tokens.verify>[1];
  expectTypeOf<{ scopes: ['orders:read'] }>().toExtend<Verified>();
  expectTypeOf<{ scopes: ['orders:write'] }>().not.toExtend<Verified>();
  const { clients, consents } = ostiary.admin.as('ana');
  type Created = Parameters<typeof clients.create>[0];
  expectTypeOf<typeof app & { allowedScopes: ['email'] }>().toExtend<Created>();
  expectTypeOf<typeof app & { allowedScopes: ['phone'] }>().not.toExtend<Created>();
  type Changed = Parameters<typeof clients.update>[1];
  expectTypeOf<{ allowedScopes: ['email'] }>().toExtend<Changed>();
  expectTypeOf<{ allowedScopes: ['phone'] }>().not.toExtend<Changed>();
  type Imported = Parameters<typeof consents.import>[0];
  const given = { sub: 'a', clientId: 'b' };
  expectTypeOf<[typeof given & { scopes: ['email'] }]>().toExtend<Imported>();
  expectTypeOf<[typeof given & { scopes: ['phone'] }]>().not.toExtend<Imported>();

  // Generic code also accepts this instance, and gets the error at run time.
  const anyOne: Ostiary = ostiary;
  await expect(anyOne.tokens.verify('', { scopes: ['orders:write'] })).rejects.toThrow('orders:write');
  const any = anyOne.admin.as('ana');
  await expect(any.clients.create({ ...app, allowedScopes: ['phone'] })).rejects.toThrow('allowedScopes');
  await expect(any.clients.update('a', { allowedScopes: ['phone'] })).rejects.toThrow('allowedScopes');
  await expect(any.consents.import([{ ...given, scopes: ['phone'] }])).rejects.toThrow('scopes');
  await anyOne.close();
  const plain = await createOstiary(open());
  await expect(plain.tokens.verify('', { scopes: ['of-a-variable'] })).rejects.toThrow('of-a-variable');
  await plain.close();
});
