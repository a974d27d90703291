import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
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
  const options: OstiaryOptions<{ history: { claims: { orders: typeof orders }; consent: typeof consent } }> =
    {
      ...{ authUrl: authUrl, storage: memoryStorage(), sealingKeys: [new Uint8Array(32)] },
      login: { authenticate: () => null, loginUrl: () => '/login' },
      // @ts-expect-error This test is of the types: orders are a list, and a text must not compile.
      users: { find: (sub) => ({ sub, claims: { orders: 'A-1' } }) },
    };
  expect(options.users.find).toBeTypeOf('function');
  const wrong = () =>
    createOstiary({
      ...{ authUrl: authUrl, storage: memoryStorage(), sealingKeys: [new Uint8Array(32)] },
      login: { authenticate: () => null, loginUrl: () => '/login' },
      scopes: { points: { claims: { points: z.number() }, consent } },
      // @ts-expect-error This test is of the types: points are a number, and a text must not compile.
      users: { find: async (sub) => ({ sub, claims: { points: 'many' } }) },
    });
  expect(wrong).toBeTypeOf('function');
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
  // @ts-expect-error This test is of the types: a scope that the options lack must not compile.
  await expect(ostiary.tokens.verify('', { scopes: ['orders:write'] })).rejects.toThrow('orders:write');
  const { clients, consents } = ostiary.admin.as('ana');
  // @ts-expect-error This test is of the types: a scope that the options lack must not compile.
  await expect(clients.create({ ...app, allowedScopes: ['phone'] })).rejects.toThrow('allowedScopes');
  // @ts-expect-error This test is of the types: a scope that the options lack must not compile.
  await expect(clients.update('a', { allowedScopes: ['phone'] })).rejects.toThrow('allowedScopes');
  const given = { sub: 'a', clientId: 'b' };
  // @ts-expect-error This test is of the types: a scope that the options lack must not compile.
  await expect(consents.import([{ ...given, scopes: ['phone'] }])).rejects.toThrow('scopes');
  // Code that takes any of them takes this one.
  const anyOne: Ostiary = ostiary;
  await anyOne.close();
  const plain = await createOstiary(open());
  await expect(plain.tokens.verify('', { scopes: ['of-a-variable'] })).rejects.toThrow('of-a-variable');
  await plain.close();
});
