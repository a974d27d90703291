import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { startProvider } from '../support/running.ts';
import { parseAnswer, RawConnection, rawGet, rawPost, sendRaw } from './raw.ts';

const json = 'Content-Type: application/json';
const unknownToken = '{"token":"a"}';

/** Some paths that accept a request body: three of the OAuth endpoints, and the consent page. */
const bodyPaths = ['/v1/oauth/token', '/v1/oauth/revoke', '/v1/oauth/userinfo', '/oauth/interaction/x'];

/** A revocation request that keeps its connection open; the response is 200 with `{"ok":true}`. */
const revocation = `POST /v1/oauth/revoke HTTP/1.1\r\nHost: a\r\n${json}\r\nContent-Length: ${unknownToken.length}\r\n\r\n${unknownToken}`;

/** Removes `Connection: close` from a request, as a client that wants to send more. */
function keepAlive(request: Uint8Array): string {
  return Buffer.from(request).toString('latin1').replace('Connection: close\r\n', '');
}

describe('connections that misbehave', async () => {
  const provider = await startProvider();
  const client = await provider.client();
  const defects: unknown[] = [];
  const note = (error: unknown): void => void defects.push(error);
  const printed = vi.spyOn(console, 'error').mockImplementation(note);
  process.on('unhandledRejection', note).on('uncaughtException', note);
  afterEach(async () => {
    vi.useRealTimers();
    // After any attack the process still responds, has printed nothing, and no error has passed its handlers.
    expect((await sendRaw(provider.origin, rawGet('/.well-known/jwks.json'))).status).toBe(200);
    expect(defects).toEqual([]);
    expect(provider.errors).toEqual([]);
  });
  afterAll(() => {
    process.off('unhandledRejection', note).off('uncaughtException', note);
    printed.mockRestore();
  });

  const statuses = (text: string): string[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);

  /** Returns the statuses of the responses on a connection whose client has ended its side. */
  async function answered(bytes: string | Uint8Array): Promise<string[]> {
    const connection = await RawConnection.open(provider.origin);
    connection.write(bytes);
    connection.end();
    return statuses(await connection.all());
  }

  it('get one answer per pipelined request, in order', async () => {
    const connection = await RawConnection.open(provider.origin);
    const bad = revocation.replace(unknownToken, '{"token"::1}').replace(/Length: \d+/, 'Length: 12');
    connection.write([revocation, bad, revocation, bad, revocation].join(''));
    connection.write(rawGet('/v1/oauth/userinfo'));
    expect(statuses(await connection.all())).toEqual(['200', '400', '200', '400', '200', '401']);
  });

  it('may tell too small a length, of which the rest is no body, or too great a one and hang up', async () => {
    const short = rawPost('/v1/oauth/revoke', [json, 'Content-Length: 5'], unknownToken);
    expect((await sendRaw(provider.origin, short)).status).toBe(400);
    for (const path of [...bodyPaths, '/oauth/authorize'])
      expect(await answered(rawPost(path, [json, 'Content-Length: 500'], unknownToken))).not.toContain('200');
  });

  it('may break off a chunked body anywhere', async () => {
    const headers = [json, 'Transfer-Encoding: chunked'];
    const cut = ['', '5', '5\r\n', '5\r\n{"to', 'd\r\n{"token":"a"}', '0\r\nTrailer'];
    const malformed = ['zz\r\n', '-1\r\n', 'ffffffffffffffffff\r\na', '1;ext="\r\n'];
    for (const body of [...cut, ...malformed])
      expect.soft(await answered(rawPost('/v1/oauth/revoke', headers, body)), body).not.toContain('200');
  });

  it('are closed after a body that is too large, even if more of it arrives', async () => {
    const connection = await RawConnection.open(provider.origin);
    connection.write(keepAlive(rawPost('/v1/oauth/revoke', [json, 'Transfer-Encoding: chunked'], '')));
    const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`;
    for (let count = 0; count < 200; count += 1) connection.write(chunk);
    expect(statuses(await connection.all())).toEqual(['413']);
  });

  it('that break while their answer is made leave nothing behind', async () => {
    const page = await openConsent(provider, client);
    const cookie = `Cookie: ${page.browser.cookieHeader(page.path)}`;
    const authorize = provider.authorizeUrl(client).slice(provider.origin.length);
    const paths = ['/.well-known/openid-configuration', authorize, page.path, '/account/apps'];
    const requests = [
      ...paths.map((path) => rawGet(path, [cookie])),
      ...bodyPaths.map((path) => rawPost(path, [json, 'Content-Length: 500'], unknownToken)),
      rawPost('/v1/oauth/token', [json], '{}'),
      rawPost('/v1/oauth/revoke', [json], unknownToken),
      rawPost(page.path, [cookie, json], '{"decision":"approve"}'),
    ];
    for (const request of requests) {
      for (const turns of [0, 1, 2, 5]) {
        const connection = await RawConnection.open(provider.origin);
        connection.write(request);
        for (let turn = 0; turn < turns; turn += 1) await setImmediate();
        connection.reset();
        await connection.all();
      }
    }
  });

  it('get an error when their body is too slow, exactly at the limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const path of bodyPaths) {
      const connection = await RawConnection.open(provider.origin);
      connection.write(keepAlive(rawPost(path, [json, 'Content-Length: 100'], '{')));
      while (vi.getTimerCount() === 0) await setImmediate();
      // Sending single bytes does not extend the time limit.
      for (let second = 0; second < 9; second += 1) {
        await vi.advanceTimersByTimeAsync(1_000);
        connection.write(' ');
      }
      await vi.advanceTimersByTimeAsync(999);
      expect(vi.getTimerCount()).toBe(1);
      await vi.advanceTimersByTimeAsync(1);
      const answer = parseAnswer(await connection.all());
      expect([answer.status, answer.values('connection')]).toEqual([408, ['close']]);
      expect(answer.body).toContain('invalid_request');
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it('leave no timer behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const body of [unknownToken, '', '{', 'a'.repeat(70_000)])
      await sendRaw(provider.origin, rawPost('/v1/oauth/revoke', [json], body));
    const connection = await RawConnection.open(provider.origin);
    connection.write(rawPost('/v1/oauth/revoke', [json, 'Content-Length: 100'], '{'));
    while (vi.getTimerCount() === 0) await setImmediate();
    connection.reset();
    while (vi.getTimerCount() > 0) await setImmediate();
  });
});
