import { describe, expect, it } from 'vitest';
import { ana, Host } from '../../support/directory.ts';
import { partnerProvider, payment } from '../../support/partner-api.ts';
import type { TestClient, TestKey, TestProvider } from '../../support/provider.ts';
import { blamed } from '../refusal.ts';

const byKid = 'GET /v1/partner/users/KID-ANA';
const byPhone = 'GET /v1/partner/users/phone/+50937000001';
const base = {
  kid: 'KID-ANA',
  handle: 'ana',
  name: 'Ana Joseph',
  role: 'member',
  country: 'HT',
  createdAt: '2024-03-01T12:00:00.000Z',
};
const kyc = { kycStatus: 'approved', kycTier: 2 };

const looked = async (provider: TestProvider, key: TestKey) => {
  const [one, other] = [await provider.partnerCall(key, byKid), await provider.partnerCall(key, byPhone)];
  expect(one.json()).toEqual(other.json());
  return one.json();
};

describe('looking users up', () => {
  it('refuses a host that returns another user than requested, and pays nothing', async () => {
    const host = new Host();
    // The host returns Ana for any id, like a database with a numeric column for which "017" equals 17.
    const { provider, rail } = await partnerProvider(
      { users: { ...host.users, findByKid: () => ana } },
      host,
    );
    const key = await provider.key();
    const pay = (kid: string) =>
      provider.partnerCall(key, 'POST /v1/partner/payments', { ...payment, recipient: { kid } });
    expect((await provider.partnerCall(key, 'GET /v1/partner/users/KID-BEN')).status).toBe(500);
    expect([(await pay('KID-BEN')).status, (await pay('KID-ANA')).status]).toEqual([500, 201]);
    await provider.ostiary.worker.runDue();
    expect(rail.orders.map(({ recipientKid }) => recipientKid)).toEqual(['KID-ANA']);
  });

  it.each([
    [{ ...ana, kid: 17 }, 'users.findByKid: kid has to be a string'],
    [{ ...ana, kid: 'KID-BEN' }, 'users.findByKid: returned another user than the one requested'],
    ['ana', 'users.findByKid: must return a user or null'],
    [{ ...ana, country: 'Haiti' }, 'users: country: '],
    [{ ...ana, name: 7 }, 'users: name: '],
    [{ ...ana, createdAt: 'long ago' }, 'users: createdAt: '],
    [{ ...ana, role: 7 }, 'users: role: '],
  ])(
    'answers 500 when the host returns nonsense, and names in the log what is wrong with %j',
    async (wrong, message) => {
      const host = new Host();
      const users = { ...host.users, findByKid: () => wrong as never };
      const { provider } = await partnerProvider({ users }, host);
      const answer = await provider.partnerCall(await provider.key(), byKid);
      expect(blamed(answer, 500, 'internal_error')).toEqual([]);
      const err = { message: expect.stringContaining(message) };
      expect(provider.logged).toMatchObject([{ level: 'error', fields: { err } }]);
    },
  );

  it('shows who they are and nothing of their money', async () => {
    const { provider } = await partnerProvider();
    expect(await looked(provider, await provider.key())).toEqual(base);
    const encoded = byPhone.replace('+', '%2B');
    expect((await provider.partnerCall(await provider.key(), encoded)).json()).toEqual(base);
  });

  it.each<readonly [string, (provider: TestProvider, client: TestClient) => Promise<unknown>]>([
    ['the user has taken the consent back', (provider, client) => provider.removeApp(client)],
    ['the client is disabled', (provider, { id }) => provider.ostiary.admin.clients.disable(id)],
    ['the host has ended the user’s consents', (provider) => provider.ostiary.users.end(ana.sub)],
  ])('shows it no longer once %s', async (_what, end) => {
    const { provider } = await partnerProvider();
    const key = await provider.key();
    const client = await provider.client({ partner: key.partner });
    await provider.token(client, 'kyc');
    expect(await looked(provider, key)).toMatchObject(kyc);
    await end(provider, client);
    expect(await looked(provider, key)).toEqual(base);
  });

  it('responds for users hidden by the host as for unknown users, everywhere', async () => {
    const host = new Host();
    const { provider } = await partnerProvider({}, host);
    const [key, other] = [await provider.key(), await provider.key()];
    const { token } = await provider.ostiary.passports.issue(ana.sub);
    host.hidden.add(`${ana.sub} ${key.partner}`);
    const seen = new Set<unknown>();
    for (const [target, body] of [
      ['GET /v1/partner/users/KID-NOBODY'],
      [byKid],
      [byPhone],
      ['POST /v1/partner/verify', { token }],
      ['POST /v1/partner/payments', payment],
    ] as const) {
      const answer = await provider.partnerCall(key, target, body);
      expect(blamed(answer, 404, 'not_found')).toEqual([]);
      seen.add(answer.json().message);
    }
    expect(seen.size).toBe(1);
    expect((await provider.partnerCall(other, byKid)).status).toBe(200);
    expect((await provider.partnerCall(other, 'POST /v1/partner/verify', { token })).status).toBe(200);
  });

  it('needs a host that can find by id and by phone, said at the start', async () => {
    const host = new Host();
    const users = { find: host.users.find };
    await expect(partnerProvider({ users }, host)).rejects.toThrow(/findByKid and findByPhone/);
  });
});
