import { describe, expect, it } from 'vitest';
import { visited } from './console-kit.ts';

describe('a page that keeps itself up to date', () => {
  it('is answered 304 as long as nothing has changed, and as a whole after that', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    const event = await kit.event(key);
    const steps = [
      () => kit.attempt({ error: 'status', httpStatus: 500 }),
      () => kit.provider.clock.advance(60_000),
      () => kit.attempt({}),
    ];
    const pages = ['/sandbox', `/sandbox/events/${event}`, `/sandbox/endpoints/${endpoint}`];
    const tags = new Map<string, Set<string>>(pages.map((path) => [path, new Set()]));
    for (const step of [async () => {}, ...steps]) {
      await step();
      for (const path of pages) {
        const first = await browser.get(path);
        const etag = first.headers.get('etag') ?? '';
        expect(etag).toMatch(/^"[\w-]{22}"$/);
        kit.provider.clock.advance(2_000);
        const again = await browser.get(path, { 'if-none-match': etag, 'cache-control': 'no-cache' });
        // What is counted down is news.
        const isCounting = /\(in [1-9]/.test(first.text);
        expect
          .soft([path, again.status, again.text === ''])
          .toEqual([path, ...(isCounting ? [200, false] : [304, true])]);
        tags.get(path)?.add(etag);
      }
    }
    // The overview counts states, and a failed attempt leaves a delivery where it was.
    expect([...tags.values()].map(({ size }) => size)).toEqual([2, 4, 4]);
  });

  it('has another tag in another language, and one of another page is worth nothing', async () => {
    const { kit, key, browser } = await visited();
    const event = await kit.event(key);
    const english = await browser.get('/sandbox');
    const etag = english.headers.get('etag') ?? '';
    expect((await browser.get('/sandbox', { 'if-none-match': etag, 'accept-language': 'fr' })).status).toBe(
      200,
    );
    expect((await browser.get(`/sandbox/events/${event}`, { 'if-none-match': etag })).status).toBe(200);
  });

  it('is no longer answered 304 once the session has ended', async () => {
    const { kit, key, browser } = await visited();
    const etag = (await browser.get('/sandbox')).headers.get('etag') ?? '';
    await kit.provider.ostiary.admin.apiKeys.revoke(key.id);
    const answer = await browser.get('/sandbox', { 'if-none-match': etag });
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('data-live');
  });

  it('allows its one script by its address, its style sheets by hash, its own origin, and nothing else', async () => {
    const { browser } = await visited();
    const { headers, text } = await browser.get('/sandbox');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src http:\/\/127\.0\.0\.1:\d+\/sandbox\/live\.js; connect-src 'self'; style-src 'sha256-[^']+' 'sha256-[^']+'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(text.match(/<script/g)).toHaveLength(1);
    const script = await browser.get(/<script src="([^"]+)"/.exec(text)?.[1] ?? '');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect(script.text).toContain('Idiomorph');
    expect(text.match(/(?:src|href|action)="(?!"|data:|http:\/\/127\.0\.0\.1)[^"]*"/g)).toBeNull();
  });
});
