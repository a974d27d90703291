import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { fixedWindows } from '../../src/fixed-windows.ts';
import { addressBuckets } from '../../src/http/client-address.ts';
import type { Storage } from '../../src/storage.ts';
import { TestProvider } from '../support/provider.ts';
import { approve, approveToEnd, openConsent } from './flow-steps.ts';

/** A memory storage that tells how many interactions it holds. */
function counted(): { readonly storage: Storage; readonly rows: Set<string>; writes(): number } {
  const storage = memoryStorage();
  const rows = new Set<string>();
  let writes = 0;
  const key = (digest: Uint8Array): string => Buffer.from(digest).toString('hex');
  return {
    rows,
    writes: () => writes,
    storage: {
      ...storage,
      interactions: {
        ...storage.interactions,
        save(digest, payload, expiresAt) {
          writes += 1;
          rows.add(key(digest));
          return storage.interactions.save(digest, payload, expiresAt);
        },
        remove(digest) {
          rows.delete(key(digest));
          return storage.interactions.remove(digest);
        },
      },
    },
  };
}

describe('what an anonymous caller can fill', () => {
  it('the windows of the limits hold 100,000 addresses at most', async () => {
    const windows = fixedWindows();
    const ask = (bucket: string, now: number) => ({ bucket, limit: 60, windowMs: 60_000, now });
    for (let index = 0; index < 100_000; index += 1) await windows.consume(ask(`address ${index}`, 0));
    expect((await windows.peek(ask('address 0', 1))).count).toBe(1);
    await windows.consume(ask('one more', 1));
    expect((await windows.peek(ask('address 0', 1))).count).toBe(0);
    expect((await windows.peek(ask('address 1', 1))).count).toBe(1);
    // After their minute all are forgotten at the next addition, and none counts before that.
    expect((await windows.peek(ask('address 1', 60_000))).count).toBe(0);
    expect((await windows.consume(ask('address 1', 60_000))).count).toBe(1);
  });

  it('one IPv6 network is one caller, and one caller is one bucket in every spelling', () => {
    const addressBucket = (address: string) => addressBuckets(address)[0].name;
    const same = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:0:0:0:1'];
    expect(new Set(same.map(addressBucket)).size).toBe(1);
    expect(addressBucket('2001:db8:1:3::1')).not.toBe(addressBucket('2001:db8:1:2::1'));
    expect(addressBucket('::1')).not.toBe(addressBucket('2001::1'));
    expect(addressBucket('192.0.2.1')).not.toBe(addressBucket('192.0.2.2'));
  });

  it('refused requests and silent ones leave no interaction', async () => {
    const { storage, rows } = counted();
    const provider = await TestProvider.start({ storage });
    const client = await provider.client();
    for (const changes of [
      { prompt: 'none' },
      { scope: 'nonsense' },
      { response_type: 'token' },
      { redirect_uri: 'https://evil.example/' },
      { client_id: 'stranger' },
      { request_uri: 'https://evil.example/' },
      { state: 'a'.repeat(5000) },
    ]) {
      await provider.browser(null).get(provider.authorizeUrl(client, changes));
    }
    expect(rows.size).toBe(0);
    await provider.stop();
  });

  it('one interaction stays one, however often its browser goes around', async () => {
    const { storage, rows } = counted();
    const provider = await TestProvider.start({ storage });
    const client = await provider.client();
    const browser = provider.browser();
    let url = (await browser.get(provider.authorizeUrl(client))).location ?? '';
    for (let turn = 0; turn < 10; turn += 1) {
      await browser.get(url);
      const { location } = await browser.get(url.replace('interaction', 'authorize'));
      url = location ?? '';
      expect(rows.size).toBe(1);
    }
    const page = await openConsent(provider, browser, client);
    await approve(browser, page);
    await approveToEnd(browser, page, client);
    expect(rows.size).toBe(1);
    await provider.stop();
  });

  it('the limit of starts bounds the rows, and the worker removes them after their hour', async () => {
    const { storage, writes } = counted();
    const provider = await TestProvider.start({ storage, limits: { authorizeStarts: 20 } });
    const client = await provider.client();
    const statuses = await Promise.all(
      Array.from(
        { length: 60 },
        async () => (await provider.browser(null).get(provider.authorizeUrl(client))).status,
      ),
    );
    expect(statuses.filter((status) => status === 303)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    expect(writes()).toBe(20);
    provider.clock.advance(3_600_001);
    await provider.ostiary.worker.runDue();
    const { interactions } = await storage.purge({
      now: provider.clock.now(),
      before: 0,
      eventsBefore: 0,
      limit: 100,
    });
    expect(interactions).toBe(0);
    await provider.stop();
  });

  it('coming back without an answer is limited like a start', async () => {
    const { storage, writes } = counted();
    const provider = await TestProvider.start({ storage, limits: { authorizeStarts: 5 } });
    const browser = provider.browser();
    let url = (await browser.get(provider.authorizeUrl(await provider.client()))).location ?? '';
    const statuses: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const { status, location } = await browser.get(url.replace('interaction', 'authorize'));
      statuses.push(status);
      url = location ?? url;
    }
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429, 429, 429]);
    expect(writes()).toBe(6);
    await provider.stop();
  });

  it('failed client authentications are limited, even when they come at once, and right ones do not count', async () => {
    const provider = await TestProvider.start({ limits: { failedClientAuthentications: 10 } });
    const client = await provider.client();
    for (let turn = 0; turn < 30; turn += 1) {
      expect((await provider.exchange(client, 'x')).status).toBe(400);
    }
    const code = await provider.code(client);
    for (let turn = 0; turn < 10; turn += 1) {
      expect((await provider.exchange(client, code, { client_secret: 'wrong' })).status).toBe(401);
    }
    const refused = await provider.exchange(client, code);
    expect([refused.status, refused.json().error]).toEqual([429, 'slow_down']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    provider.clock.advance(60_000);
    expect((await provider.exchange(client, code)).status).toBe(200);
    await provider.stop();
  });
});
