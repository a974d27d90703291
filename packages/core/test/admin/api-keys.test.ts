import { describe, expect, it } from 'vitest';
import type { NewApiKey } from '../../src/admin/api-keys.ts';
import { partnerProvider } from '../support/partner-api.ts';

const { provider } = await partnerProvider();
const { apiKeys, partners } = provider.ostiary.admin;
const whoami = async (key: string) => (await provider.partnerCall(key, 'GET /v1/partner/whoami')).status;
let created = 0;

/** Creates a partner and issues an API key for it. */
async function issued(settings: Partial<NewApiKey> = {}) {
  created += 1;
  const partner = `shop-${created}`;
  await partners.create({ slug: partner, name: partner });
  return apiKeys.issue({ partner, mode: 'live', scopes: ['users:read'], ...settings });
}

describe('an API key', () => {
  it('is shown once, and listed without its secrets', async () => {
    const { apiKey, key, signingSecret } = await issued({ name: 'till', scopes: ['webhooks', 'webhooks'] });
    expect(apiKey).toMatchObject({ name: 'till', scopes: ['webhooks'], allowlist: null, revokedAt: null });
    expect(await whoami(key)).toBe(200);
    const listed = await apiKeys.list(apiKey.partner);
    expect(listed).toMatchObject([
      { id: apiKey.id, lastUsedAt: new Date(provider.clock.now()).toISOString() },
    ]);
    for (const secret of [key, signingSecret]) expect(JSON.stringify(listed)).not.toContain(secret);
  });

  it.each<[string, object]>([
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['everything'] }],
    ['an empty allowlist', { allowlist: [] }],
    ['an address that is none', { allowlist: ['10.0.0.0/33'] }],
    ['an expiry in the past', { expiresAt: new Date(provider.clock.now()) }],
    ['an unknown setting', { rights: 'all' }],
  ])('is refused with %s', async (_, wrong) => {
    await expect(issued(wrong)).rejects.toThrow(TypeError);
  });

  it('needs a partner that exists', async () => {
    const input: NewApiKey = { partner: 'nobody', mode: 'live', scopes: ['users:read'] };
    await expect(apiKeys.issue(input)).rejects.toMatchObject({ code: 'partner_not_found' });
  });

  it('is refused from the moment of its expiry', async () => {
    const { key } = await issued({ expiresAt: new Date(provider.clock.now() + 1_000) });
    provider.clock.advance(999);
    expect(await whoami(key)).toBe(200);
    provider.clock.advance(1);
    expect(await whoami(key)).toBe(401);
  });

  it('is refused as soon as it is revoked, which may be repeated', async () => {
    const { apiKey, key } = await issued();
    expect(await whoami(key)).toBe(200);
    await apiKeys.revoke(apiKey.id);
    await apiKeys.revoke(apiKey.id);
    expect(await whoami(key)).toBe(401);
    const { entries } = await provider.ostiary.admin.audit.list({ target: `key:${apiKey.id}` });
    expect(entries.map(({ action }) => action).toSorted()).toEqual(['key.issue', 'key.revoke']);
    await expect(apiKeys.revoke('key_nobody')).rejects.toMatchObject({ code: 'key_not_found' });
  });
});

describe('rolling an API key', () => {
  it('keeps its rights, and the old key for the overlap', async () => {
    const old = await issued({ allowlist: ['127.0.0.1'], requireSignature: true, name: 'till' });
    const successor = await apiKeys.roll(old.apiKey.id, { overlapSeconds: 60 });
    const { id: _, start, createdAt: __, expiresAt: ___, lastUsedAt: ____, ...rights } = old.apiKey;
    expect(successor.apiKey).toMatchObject(rights);
    expect(old.key.slice(0, 17)).toBe(start);
    expect(successor.key.slice(0, 17)).toBe(successor.apiKey.start);
    expect(successor.signingSecret).not.toBe(old.signingSecret);
    provider.clock.advance(59_999);
    expect([await whoami(old.key), await whoami(successor.key)]).toEqual([200, 200]);
    provider.clock.advance(1);
    expect([await whoami(old.key), await whoami(successor.key)]).toEqual([401, 200]);
  });

  it.each([
    ['without an expiry', null],
    ['with an expiry', 365 * 86_400_000],
  ])(
    'again within its overlap gives the expiry of a key %s, and not the end of the overlap',
    async (_, lasts) => {
      const expiresAt = lasts === null ? null : new Date(provider.clock.now() + lasts);
      const old = await issued(expiresAt === null ? {} : { expiresAt });
      const lost = await apiKeys.roll(old.apiKey.id, { overlapSeconds: 60 });
      const again = await apiKeys.roll(old.apiKey.id, { overlapSeconds: 3600 });
      expect(again.apiKey.expiresAt).toBe(expiresAt?.toISOString() ?? null);
      await apiKeys.revoke(lost.apiKey.id);
      const third = await apiKeys.roll(old.apiKey.id);
      expect(third.apiKey.expiresAt).toBe(expiresAt?.toISOString() ?? null);
      provider.clock.advance(60_000);
      expect([await whoami(old.key), await whoami(again.key), await whoami(third.key)]).toEqual([
        401, 200, 200,
      ]);
    },
  );

  it('is refused for a key that is revoked or unknown, and for an overlap of more than 90 days', async () => {
    const { apiKey } = await issued();
    await expect(apiKeys.roll(apiKey.id, { overlapSeconds: 7_776_001 })).rejects.toThrow(TypeError);
    await apiKeys.revoke(apiKey.id);
    await expect(apiKeys.roll(apiKey.id)).rejects.toMatchObject({ code: 'key_ended' });
    await expect(apiKeys.roll('key_nobody')).rejects.toMatchObject({ code: 'key_not_found' });
  });
});
