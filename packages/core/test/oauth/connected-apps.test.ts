import { expect, it } from 'vitest';
import { ana, ben, Host } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { startProvider } from '../support/running.ts';

const hour = 3_600_000;

it('the host lists the apps of a user as their page does, with the last use', async () => {
  const provider = await startProvider();
  const { consents } = provider.ostiary;
  expect(await consents.list(ana.sub)).toEqual([]);
  const [shop, bank] = [await provider.client({ name: 'Shop' }), await provider.client({ name: 'Bank' })];
  const first = new Date(provider.clock.now());
  await provider.token(shop, 'openid kyc');
  provider.clock.advance(1_000);
  const second = new Date(provider.clock.now());
  await provider.token(bank, 'openid');
  await provider.token(bank, 'openid', provider.browser(ben.sub));
  const of = (app: typeof shop, clientName: string, scopes: string[], at: Date) => {
    return {
      clientId: app.id,
      clientName,
      logoUrl: null,
      scopes,
      grantedAt: at,
      updatedAt: at,
      lastUsedAt: at,
    };
  };
  const listed = [of(bank, 'Bank', ['openid'], second), of(shop, 'Shop', ['openid', 'kyc'], first)];
  expect(await consents.list(ana.sub)).toEqual(listed);
  expect(await consents.list(ben.sub)).toEqual([listed[0]]);
  expect([...(await provider.connectedApps(provider.browser())).keys()]).toEqual([bank.id, shop.id]);

  provider.clock.advance(2 * hour);
  await provider.token(shop, 'openid kyc');
  const lastUsedAt = new Date(provider.clock.now());
  expect(await consents.list(ana.sub)).toEqual([listed[0], { ...listed[1], lastUsedAt }]);
});

it('the host ends the access of one app, at once, for one user, and that of no other', async () => {
  const provider = await startProvider();
  const { consents, tokens } = provider.ostiary;
  const [shop, bank] = [await provider.client(), await provider.client()];
  const own = await provider.token(shop);
  const others = [
    await provider.token(bank),
    await provider.token(shop, 'openid', provider.browser(ben.sub)),
  ];
  const code = await provider.code(shop);
  expect(await consents.revoke(ana.sub, shop.id)).toBe(true);
  expect(await tokens.verify(own)).toEqual({ active: false, reason: 'revoked' });
  expect(await provider.redeem(shop, code)).toBe('400 invalid_grant');
  for (const other of others) expect(await tokens.verify(other)).toMatchObject({ active: true });
  expect((await consents.list(ana.sub)).map(({ clientId }) => clientId)).toEqual([bank.id]);
  for (const [sub, clientId] of [
    [ana.sub, shop.id],
    [ana.sub, 'nobody'],
    ['nobody', shop.id],
  ] as const)
    expect(await consents.revoke(sub, clientId)).toBe(false);
});

it('while the storage is unreachable both throw, and nothing is revoked', async () => {
  const database = fragileStorage();
  const provider = await startProvider({ storage: database.storage });
  const { consents } = provider.ostiary;
  const client = await provider.client();
  const token = await provider.token(client);
  database.breakWhen(() => true);
  await expect(consents.list(ana.sub)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  await expect(consents.revoke(ana.sub, client.id)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  database.breakWhen(null);
  expect(await provider.isAlive(token)).toBe(true);
});

it('the page shows days in the time zone of the user, or in UTC, which it names', async () => {
  const host = new Host();
  const provider = await startProvider({}, host);
  provider.clock.advance(Date.parse('2030-01-06T02:00:00Z') - provider.clock.now());
  await provider.code(await provider.client());
  const days = async (zoneinfo?: string): Promise<string[]> => {
    host.people.set(ana.sub, { ...ana, ...(zoneinfo !== undefined && { zoneinfo }) });
    const { text } = await provider.browser().get('/account/apps');
    return [...text.matchAll(/<time datetime="([^"]+)">([^<]+)/g)].flatMap(([, at = '', day = '']) => [
      at,
      day,
    ]);
  };
  const at = '2030-01-06T02:00:00.000Z';
  // The day of the consent and the day of the last sign-in.
  const twice = (day: string) => [at, day, at, day];
  expect(await days('America/Port-au-Prince')).toEqual(twice('January 5, 2030'));
  expect(await days('Asia/Tokyo')).toEqual(twice('January 6, 2030'));
  for (const unknown of [undefined, 'Mars/Olympus'])
    expect(await days(unknown)).toEqual(twice('January 6, 2030 (UTC)'));
});
