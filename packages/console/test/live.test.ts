import { describe, expect, it } from 'vitest';
import { visited } from './console-kit.ts';

describe('a page that keeps itself up to date', () => {
  it('allows only its one script by URL, its one style sheet by URL, and its own origin', async () => {
    const { browser } = await visited();
    const { headers, text } = await browser.get('/sandbox');
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src http:\/\/127\.0\.0\.1:\d+\/sandbox\/live\.js; connect-src 'self'; style-src http:\/\/127\.0\.0\.1:\d+\/sandbox\/style\.css; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'$/,
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
    expect(text.match(/(?:src|href|action)="(?!"|#content"|data:|http:\/\/127\.0\.0\.1)[^"]*"/g)).toBeNull();
  });

  it('is the only kind of page whose script may send requests', async () => {
    const { browser } = await visited();
    const { status, headers } = await browser.get('/sandbox/tools');
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).not.toContain('connect-src');
  });
});
