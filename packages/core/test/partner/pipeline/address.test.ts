import { expect, it } from 'vitest';
import { rawGet, sendRaw } from '../../attacks/raw.ts';
import { partnerProvider } from '../../support/partner-api.ts';

it.each<readonly [trusted: string[], allowlist: string[], allowed: string[][], refused: string[][]]>([
  // Without trusted proxies the socket's address counts, and the header is ignored.
  [[], ['203.0.113.0/24'], [], [['203.0.113.7'], ['127.0.0.1'], ['garbage'], []]],
  [[], ['127.0.0.0/8'], [[], ['203.0.113.7'], ['garbage']], []],
  // With a trusted proxy the header's last entry counts; without the header the proxy itself is the client.
  [
    ['127.0.0.1'],
    ['203.0.113.0/24', '2001:db8::/32'],
    [['203.0.113.7'], ['198.51.100.1, 203.0.113.7'], ['198.51.100.1', '203.0.113.7'], ['2001:db8:1::1']],
    [['203.0.113.7, 198.51.100.1'], ['203.0.113.7', '198.51.100.1'], ['2001:db9::1'], []],
  ],
  // An unknown address is not on any allowlist.
  [
    ['127.0.0.1'],
    ['0.0.0.0/0', '::/0'],
    [['203.0.113.7']],
    [['garbage'], ['203.0.113.7, unknown'], ['0x7f.1']],
  ],
  [['127.0.0.1'], ['203.0.113.0/31'], [['203.0.113.1']], [['203.0.113.2']]],
  [['127.0.0.1'], ['::ffff:203.0.113.7'], [['203.0.113.7']], [['203.0.113.8']]],
  [['127.0.0.1'], ['2001:db8::/127'], [['2001:db8::1']], [['2001:db8::2']]],
  [['127.0.0.1'], ['2001:DB8:0:0::1'], [['2001:db8::1']], [['2001:db8::2']]],
])(
  'behind the proxies %j a key with the allowlist %j lets %j in',
  async (trustedProxies, allowlist, allowed, refused) => {
    const { provider } = await partnerProvider({ trustedProxies });
    const { key, id } = await provider.key({ allowlist });
    // A rolled key keeps the allowlist of its predecessor.
    const rolled = await provider.ostiary.admin.apiKeys.roll(id);
    const ask = async (forwarded: readonly string[], by: string) => {
      const headers = [`X-API-Key: ${by}`, ...forwarded.map((value) => `X-Forwarded-For: ${value}`)];
      const { status, body } = await sendRaw(provider.origin, rawGet('/v1/partner/whoami', headers));
      return `${status} ${status === 403 ? JSON.parse(body).code : 'ok'}`;
    };
    for (const by of [key, rolled.key]) {
      for (const forwarded of allowed)
        expect([forwarded, await ask(forwarded, by)]).toEqual([forwarded, '200 ok']);
      for (const forwarded of refused)
        expect([forwarded, await ask(forwarded, by)]).toEqual([forwarded, '403 ip_not_allowed']);
    }
  },
);

it('a key without an allowlist is taken from every address, and from one that is unknown', async () => {
  const { provider } = await partnerProvider({ trustedProxies: ['127.0.0.1'] });
  const headers = { 'x-forwarded-for': 'garbage' };
  const answer = await provider.partnerCall(
    await provider.key(),
    'GET /v1/partner/whoami',
    undefined,
    headers,
  );
  expect(answer.status).toBe(200);
});

it('a malformed range stored by an earlier version admits no address, and the other ranges of its key stay valid', async () => {
  const issuing = await partnerProvider();
  const { provider, database } = await partnerProvider();
  for (const [allowlist, status] of [
    [['127.0.0.0/8/8'], 403],
    [['127.0.0.0/8/8', '127.0.0.1'], 200],
  ] as const) {
    const { key, id, partner } = await issuing.provider.key();
    const records = await issuing.database.storage.apiKeys.list(partner);
    const record = records.find((each) => each.id === id);
    if (record === undefined) throw new Error('the key was not stored');
    await provider.partner(partner);
    await database.storage.apiKeys.insert({ ...record, allowlist });
    expect((await provider.partnerCall(key, 'GET /v1/partner/whoami')).status).toBe(status);
  }
});
