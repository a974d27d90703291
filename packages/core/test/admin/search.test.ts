import { describe, expect, it } from 'vitest';
import { partnerProvider, payment } from '../support/partner-api.ts';

const { provider } = await partnerProvider();
const { admin } = provider.ostiary;
const found = async (text: string) => (await admin.search(text)).hits.map(({ kind, id }) => `${kind} ${id}`);

await admin.partners.create({ slug: 'kafe-lakay', name: 'Kafé Lakay' });
await admin.partners.create({ slug: 'kafe-2', name: 'Another' });
const redirectUris = ['https://app.example/'];
await admin.clients.create({
  ...{ clientId: 'shop-1', name: 'KAFÉ shop', redirectUris, allowedScopes: ['openid'] },
});
const key = await provider.key({ partner: 'kafe-lakay', mode: 'test' });

describe('a search', () => {
  it('finds partners and clients by the beginning of a word of the name or of an id, without accents and case', async () => {
    expect((await found('kafe')).toSorted()).toEqual([
      'client shop-1',
      'partner kafe-2',
      'partner kafe-lakay',
    ]);
    expect(await found(' KAFÉ  lak')).toEqual(['partner kafe-lakay']);
    expect(await found('shop-1')).toEqual(['client shop-1']);
    expect(await found('Lakáy')).toEqual(['partner kafe-lakay']);
    expect(await found('shop')).toEqual(['client shop-1']);
    for (const nothing of [
      'akay',
      'lakay kafe',
      'nobody',
      '',
      ' ',
      '…',
      '%',
      '_',
      "' OR 1=1 --",
      '__proto__',
    ])
      expect([nothing, await found(nothing)]).toEqual([nothing, []]);
  });

  it('finds one object by its whole id, with its owner', async () => {
    const paid = { ...payment, recipient: { kid: 'KID-TEST-APPROVED' } };
    const { id: transfer } = (await provider.partnerCall(key, 'POST /v1/partner/payments', paid)).json();
    const { id: event } = (
      await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' })
    ).json();
    const owner = { partner: 'kafe-lakay', mode: 'test' };
    for (const [kind, id] of Object.entries({ transfer, event, key: key.id })) {
      const { hits } = await admin.search(String(id));
      expect(hits).toMatchObject([{ kind, id, ...owner }]);
      expect(await found(String(id).slice(0, -1))).toEqual([]);
    }
  });

  it('finds an API key by its first characters, and searches for nothing that is a whole secret', async () => {
    const start = key.key.slice(0, 'svc_test_'.length + 8);
    expect(await found(start)).toEqual([`key ${key.id}`]);
    expect(await found(`${start}…`)).toEqual([`key ${key.id}`]);
    for (const secret of [key.key, `X-API-Key: ${key.key}`, key.key.slice(0, -1)])
      expect(await admin.search(secret)).toEqual({ hits: [], isSecret: true });
  });

  it('returns six objects of one kind at most', async () => {
    for (let number = 0; number < 9; number += 1)
      await admin.partners.create({ slug: `many-${number}`, name: 'Many' });
    expect(await found('many')).toHaveLength(6);
  });

  it.each(['a\0b', '\ud83d', 'x'.repeat(10_000), '🙂'])('takes any text: %j', async (text) => {
    expect(await admin.search(text)).toEqual({ hits: [], isSecret: false });
  });
});
