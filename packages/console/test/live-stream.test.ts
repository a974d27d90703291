import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../lab/support/patient.ts';
import { fragileStorage } from '../../core/test/support/fragile-storage.ts';
import { TestClock } from '../../core/test/support/provider.ts';
import { paceOf } from '../src/live-stream.ts';
import { createPlaces } from '../src/places.ts';
import { consoleAt } from '../src/sandbox-console.ts';
import { act, consoleKit, visited } from './console-kit.ts';
import { idsOf, messagesOf, openStream } from './stream-kit.ts';

/** A console that checks open pages every 20 ms instead of every second. */
const quick = { console: consoleAt(() => 20) };

type Kit = Awaited<ReturnType<typeof visited>>['kit'];

/**
 * Counts how often the storage finds the first session that was used. Each check of an open page is one such
 * look-up.
 */
function watchLooks({ storage: { sandbox } }: Kit) {
  let looks = 0;
  let session: string | null = null;
  const find = sandbox.find.bind(sandbox);
  sandbox.find = (digest, now) => {
    const record = Buffer.from(digest).toString('hex');
    session ??= record;
    if (record === session) looks += 1;
    return find(digest, now);
  };
  return {
    count: () => looks,
    /**
     * Resolves once the given number of further checks of open pages have started, so that the checks before
     * the last one have ended.
     */
    async more(count: number): Promise<void> {
      const until = looks + count;
      await vi.waitFor(() => expect(looks).toBeGreaterThanOrEqual(until), patient);
    },
  };
}

describe('the stream of an open page', () => {
  it('begins with the page, has the headers of a stream, and continues with changes', async () => {
    const { kit, key, browser } = await visited(quick);
    const { response, next } = await openStream(browser);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    const first = await next();
    expect(first?.event).toBe('page');
    expect(idsOf(first)).toEqual(['obstacles', 'first-run', 'endpoint-list', 'event-list', 'said']);
    expect(first?.data).toContain('No events yet');
    const id = await kit.event(key, 'kyc.updated');
    const second = await next();
    expect(second?.data).toContain(`id="${id}"`);
    // Returns the page as loaded, without the CSRF tokens of its forms.
    const { text } = await browser.get('/sandbox');
    const withoutProofs = (page = '') => page.replaceAll(/name="csrf" value="[^"]+"/g, '');
    expect([second?.event, withoutProofs(second?.data)]).toEqual(['page', withoutProofs(text)]);
  });

  it('sends only a heartbeat while nothing changes, and for changes of another partner', async () => {
    const { kit, browser } = await visited(quick);
    const looks = watchLooks(kit);
    const { next } = await openStream(browser);
    await next();
    await kit.event(await kit.key());
    await looks.more(2);
    kit.provider.clock.advance(14_999);
    await looks.more(2);
    kit.provider.clock.advance(1);
    expect(await next()).toEqual({ event: 'still', data: '' });
    await looks.more(2);
    kit.provider.clock.advance(15_000);
    expect(await next()).toEqual({ event: 'still', data: '' });
  });

  it('counts as one request, for any duration', async () => {
    const { kit, browser } = await visited({
      ...quick,
      partnerLimits: { console: { requests: 4, windowSeconds: 60 } },
    });
    const looks = watchLooks(kit);
    // The sign-in was the first of the four requests.
    const { next } = await openStream(browser);
    await next();
    await looks.more(4);
    expect((await browser.get('/sandbox')).status).toBe(200);
    expect((await browser.get('/sandbox')).status).toBe(200);
    expect((await browser.get('/sandbox')).status).toBe(429);
    // Once the rate limit is used up, the stream of the open page ends.
    expect(await next()).toBeNull();
    expect((await openStream(browser)).response.status).toBe(429);
  });

  it('reports the end of the session, whatever its cause, also to later requests, and ends', async () => {
    const [storage, clock] = [memoryStorage(), new TestClock()];
    const sealingKeys = [randomBytes(32)];
    const kit = await consoleKit({ ...quick, clock, sealingKeys }, storage);
    const elsewhere = await consoleKit({ ...quick, clock, sealingKeys }, storage);
    const { admin } = elsewhere.provider.ostiary;
    type Visited = { key: Awaited<ReturnType<Kit['key']>>; browser: Awaited<ReturnType<Kit['signedIn']>> };
    const ends: Record<string, (visit: Visited) => unknown> = {
      revoked: ({ key }) => admin.apiKeys.revoke(key.id),
      'signed out': ({ browser }) => act(browser, '/sandbox/sign-out', {}),
      'partner disabled': ({ key }) => admin.partners.disable(key.partner),
      '8 hours': () => clock.advance(8 * 3600_000),
    };
    for (const [name, end] of Object.entries(ends)) {
      const key = await kit.key();
      const browser = await kit.signedIn(key);
      const { next } = await openStream(browser);
      await next();
      await end({ key, browser });
      const over = { event: 'ended', data: '' };
      expect.soft([name, await next(), await next()]).toEqual([name, over, null]);
      const later = await openStream(browser);
      expect
        .soft([name, later.response.status, await later.next(), await later.next()])
        .toEqual([name, 200, over, null]);
      expect.soft(later.response.headers.getSetCookie()).toEqual([]);
    }
  });

  it('makes the browser reload a page that is gone, and shows no page of another partner', async () => {
    const { kit, key, browser } = await visited(quick);
    const [own, foreign] = [await kit.endpoint(key), await kit.endpoint(await kit.key())];
    const { next } = await openStream(browser, `/sandbox/endpoints/${own}`);
    expect(idsOf(await next())).toContain('delivery-list');
    await kit.provider.partnerCall(key, `DELETE /v1/partner/webhooks/${own}`);
    const reload = { event: 'reload', data: '' };
    expect([await next(), await next()]).toEqual([reload, null]);
    for (const path of [`/sandbox/endpoints/${foreign}`, '/sandbox/endpoints']) {
      const { next } = await openStream(browser, path);
      expect.soft([path, await next(), await next()]).toEqual([path, reload, null]);
    }
  });

  it('updates a page without results', async () => {
    const { browser } = await visited(quick);
    const path = '/sandbox/requests?id=nothing';
    expect((await browser.get(path)).status).toBe(404);
    const { next } = await openStream(browser, path);
    expect(idsOf(await next())).toEqual(['request-list', 'said']);
  });

  it('ends after five minutes, so that the page connects again', async () => {
    const { kit, browser } = await visited(quick);
    const looks = watchLooks(kit);
    const { next } = await openStream(browser);
    await next();
    kit.provider.clock.advance(5 * 60_000 - 1);
    expect((await next())?.event).toBe('still');
    await looks.more(1);
    kit.provider.clock.advance(1);
    expect(await next()).toBeNull();
    expect((await (await openStream(browser)).next())?.event).toBe('page');
  });

  it('ends when the storage fails, and gets 503 until the storage works again', async () => {
    const fragile = fragileStorage();
    const { kit, browser } = await visited(quick, fragile.storage);
    const { next } = await openStream(browser);
    await next();
    fragile.breakWhen(() => true);
    expect(await next()).toBeNull();
    expect(kit.provider.errors.map(({ message }) => message)).toEqual(['a stream of events broke off']);
    expect((await openStream(browser)).response.status).toBe(503);
    fragile.breakWhen(() => false);
    expect((await openStream(browser)).response.status).toBe(200);
  });

  it('is absent for a HEAD request', async () => {
    const { kit, browser } = await visited(quick);
    const headers = { accept: 'text/event-stream', cookie: browser.cookieHeader('/sandbox') };
    const looks = watchLooks(kit);
    const answer = await kit.provider.request('/sandbox', { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(looks.count()).toBe(1);
  });

  it('works on servers with requests of the Web API, and ends when its reader disconnects', async () => {
    const { kit, key, browser } = await visited(quick);
    const { origin, ostiary } = kit.provider;
    const headers = { accept: 'text/event-stream', cookie: browser.cookieHeader('/sandbox') };
    const response = await ostiary.fetch(new Request(`${origin}/sandbox`, { headers }));
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const [kept, read] = [response, messagesOf(response)];
    expect(idsOf(await read.next())).toContain('event-list');
    await kit.event(key);
    expect(idsOf(await read.next())).toEqual([
      'obstacles',
      'first-run',
      'endpoint-list',
      'event-list',
      'said',
    ]);
    expect(kept.bodyUsed).toBe(true);
    const left = new AbortController();
    const other = await ostiary.fetch(new Request(`${origin}/sandbox`, { headers, signal: left.signal }));
    expect(idsOf(await messagesOf(other).next())).toContain('said');
    ostiary.endStreams();
    expect(await read.next()).toBeNull();
  });
});

describe('places', () => {
  it('are limited to twenty for a partner; a closed tab frees its place, and a page without a place is complete', async () => {
    const { kit, key, browser } = await visited();
    const open = await Promise.all(Array.from({ length: 20 }, () => openStream(browser)));
    expect(open.map(({ response }) => response.status)).toEqual(Array(20).fill(200));
    const refused = await openStream(browser);
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([429, '30']);
    expect((await browser.get('/sandbox')).text).toContain('id="event-list"');
    // Another session of the partner shares the limit; another partner does not.
    expect((await openStream(await kit.signedIn(key))).response.status).toBe(429);
    expect((await openStream(await kit.signedIn(await kit.key()))).response.status).toBe(200);
    open[0]?.close();
    await vi.waitFor(async () => {
      const retried = await openStream(browser);
      expect(retried.response.status).toBe(200);
    }, patient);
    expect((await openStream(browser)).response.status).toBe(429);
  });

  it('are limited for a partner and for a process, and each is freed once', () => {
    const places = createPlaces({ partner: 2, process: 3 });
    const { take } = places;
    const first = take('x');
    expect([take('x'), take('y')].map((taken) => typeof taken)).toEqual(['function', 'function']);
    expect([take('x'), take('y'), places.taken()]).toEqual([429, 503, 3]);
    if (typeof first === 'function') first();
    expect([places.taken(), take('z')]).toEqual([2, expect.any(Function)]);
    expect([take('x'), take('y')]).toEqual([503, 503]);
  });

  it('share the rendering rate of a process', () => {
    const usual = 128 * 1024;
    expect([1, 50, 100, 500].map((open) => paceOf(open, usual))).toEqual([1_000, 1_000, 2_000, 10_000]);
    // Fifty pages of a partner whose endpoints respond with megabytes are updated less often, so that they
    // cost no more than other pages.
    expect([0, 4 * usual].map((length) => paceOf(50, length))).toEqual([1_000, 4_000]);
    expect(paceOf(1, 36 * usual)).toBe(1_000);
  });
});

describe('a service that stops', () => {
  it('ends its streams at once and accepts no new ones', async () => {
    const { kit, browser } = await visited();
    const { ostiary } = kit.provider;
    const looks = watchLooks(kit);
    const { next } = await openStream(browser);
    await next();
    ostiary.endStreams();
    expect(await next()).toBeNull();
    expect(looks.count()).toBe(1);
    const later = await openStream(browser);
    expect([later.response.status, await later.next()]).toEqual([503, null]);
    expect((await browser.get('/sandbox')).status).toBe(200);
  });

  it('ends them with `close`', async () => {
    const { kit, browser } = await visited();
    const { next } = await openStream(browser);
    await next();
    await kit.provider.ostiary.close();
    expect(await next()).toBeNull();
    expect(kit.provider.errors).toEqual([]);
  });

  it('does not delay a server that closes without waiting for streams', async () => {
    const { kit, browser } = await visited();
    const server = createServer(kit.provider.ostiary.handler);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const headers = { accept: 'text/event-stream', cookie: browser.cookieHeader('/sandbox') };
    const { next } = messagesOf(await fetch(`http://127.0.0.1:${port}/sandbox`, { headers }));
    await next();
    const asked = Date.now();
    await new Promise((resolve) => server.close(resolve));
    expect(await next()).toBeNull();
    // Node's five seconds for an idle connection do not delay the end.
    expect(Date.now() - asked).toBeLessThan(4_000);
  });
});
