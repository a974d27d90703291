import { describe, expect, it } from 'vitest';
import { rawGet, sendRaw } from '../attacks/raw.ts';
import { partnerProvider } from '../support/partner-api.ts';

const path = '/v1/partner/users/KID-ANA';

/** Status by `X-Forwarded-For`, as the server sees it with these trusted proxies and this allowlist. */
async function asker(trustedProxies: readonly string[], allowlist: readonly string[]) {
  const { provider } = await partnerProvider({ trustedProxies });
  const { key } = await provider.key({ allowlist });
  return async (...forwarded: readonly string[]) => {
    const headers = [`X-API-Key: ${key}`, ...forwarded.map((value) => `X-Forwarded-For: ${value}`)];
    const { status, body } = await sendRaw(provider.origin, rawGet(path, headers));
    return status === 403 ? `403 ${(JSON.parse(body) as { code: string }).code}` : status;
  };
}

const denied = '403 ip_not_allowed';

describe('the allowlist of a key', () => {
  it('without trusted proxies goes by the socket, whatever the header says', async () => {
    const out = await asker([], ['203.0.113.0/24']);
    for (const forged of [[], ['203.0.113.7'], ['203.0.113.7, 203.0.113.7'], ['127.0.0.1'], ['garbage']]) {
      expect.soft(await out(...forged), forged.join()).toBe(denied);
    }
    const inside = await asker([], ['127.0.0.0/8']);
    expect([await inside(), await inside('203.0.113.7'), await inside('garbage')]).toEqual([200, 200, 200]);
  });

  it('with one trusted proxy goes by what that proxy wrote, which is the last', async () => {
    const ask = await asker(['127.0.0.1'], ['203.0.113.0/24', '2001:db8::/32']);
    expect(await ask('203.0.113.7')).toBe(200);
    expect(await ask('198.51.100.1, 203.0.113.7')).toBe(200);
    expect(await ask('198.51.100.1', '203.0.113.7')).toBe(200);
    expect(await ask('203.0.113.7, 198.51.100.1')).toBe(denied);
    expect(await ask('203.0.113.7', '198.51.100.1')).toBe(denied);
    expect(await ask('2001:db8:1::1')).toBe(200);
    expect(await ask('[2001:db8:1::1]')).toBe(200);
    expect(await ask('2001:db9::1')).toBe(denied);
    expect(await ask('::ffff:203.0.113.7')).toBe(200);
    expect(await ask('::ffff:cb00:7107')).toBe(200);
    // Without a header the proxy itself asks.
    expect(await ask()).toBe(denied);
  });

  it('with two trusted proxies goes by what the outer one wrote', async () => {
    const ask = await asker(['127.0.0.1', '10.0.0.0/8'], ['203.0.113.7']);
    expect(await ask('203.0.113.7, 10.1.2.3')).toBe(200);
    expect(await ask('203.0.113.7, 198.51.100.1, 10.1.2.3')).toBe(denied);
    expect(await ask('203.0.113.7')).toBe(200);
    expect(await ask('10.1.2.3')).toBe(denied);
  });

  it('denies when the address cannot be determined', async () => {
    const ask = await asker(['127.0.0.1'], ['0.0.0.0/0', '::/0']);
    expect(await ask('203.0.113.7')).toBe(200);
    for (const garbage of [
      'garbage',
      '203.0.113.7, unknown',
      '1.2.3',
      '1.2.3.4:http',
      '1.2.3.4:80:80',
      'fe80::1%eth0',
      '203.0.113.7,',
      '0x7f.1',
      '01.2.3.4',
    ]) {
      expect.soft(await ask(garbage), garbage).toBe(denied);
    }
  });

  it.each([
    ['203.0.113.7/32', '203.0.113.7', '203.0.113.6'],
    ['203.0.113.0/31', '203.0.113.1', '203.0.113.2'],
    ['::ffff:203.0.113.7', '203.0.113.7', '203.0.113.8'],
    ['2001:db8::/127', '2001:db8::1', '2001:db8::2'],
    ['2001:DB8:0:0::1', '2001:db8::1', '2001:db8::2'],
  ])('%s has %s and not %s', async (range, inside, outside) => {
    const ask = await asker(['127.0.0.1'], [range]);
    expect([await ask(inside), await ask(outside)]).toEqual([200, denied]);
  });

  it('that is missing allows every address, and none that is unknown less', async () => {
    const { provider } = await partnerProvider({ trustedProxies: ['127.0.0.1'] });
    const key = await provider.key();
    expect(
      (await provider.partnerCall(key, `GET ${path}`, undefined, { 'x-forwarded-for': 'garbage' })).status,
    ).toBe(200);
  });

  it('stays in force for a rolled key', async () => {
    const { provider } = await partnerProvider();
    const { id } = await provider.key({ allowlist: ['192.0.2.1'] });
    const { key } = await provider.ostiary.admin.apiKeys.roll(id);
    expect((await provider.partnerCall(key, `GET ${path}`)).json().code).toBe('ip_not_allowed');
  });
});
