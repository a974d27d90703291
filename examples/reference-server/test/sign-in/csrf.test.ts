import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createCsrf, isSameOrigin } from '../../src/sign-in/csrf.ts';
import { anaika, environment, start, startServer } from '../support/server.ts';
import { fieldsOf, Visitor } from '../support/visitor.ts';

const key = (filling: number): Uint8Array => new Uint8Array(32).fill(filling);

test('a form is signed with the first key and accepted under any, and under no other', () => {
  const [old, next] = [key(1), key(2)];
  const cookie = createCsrf([old]).newCookie();
  const token = createCsrf([next, old]).token(cookie, 'login', null);
  expect(createCsrf([next]).token(cookie, 'login', null)).toBe(token);
  const isAccepted = (...keys: [Uint8Array, ...Uint8Array[]]) =>
    createCsrf(keys).verify(token, cookie, 'login', null);
  expect([isAccepted(old, next), isAccepted(next, old), isAccepted(next)]).toEqual([true, true, true]);
  expect([isAccepted(old), isAccepted(key(3), old)]).toEqual([false, false]);
  expect(createCsrf([old, next]).verify(token, cookie, 'sign-out', null)).toBe(false);
  expect(createCsrf([old, next]).verify(null, cookie, 'login', null)).toBe(false);
});

test('a form of a process before its restart is valid in a restarted one, and the reverse', async () => {
  const [old, next] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
  const { origin: late, server } = await startServer({}, { OSTIARY_SEALING_KEYS: `${old},${next}` });
  const env = await environment({ OSTIARY_SEALING_KEYS: `${next},${old}` });
  const other = await start({ ...env, OSTIARY_AUTH_URL: late, OSTIARY_DATA_DIR: server.config.dataDir });
  const restarted = `http://localhost:${other.port}`;
  for (const [one, other] of [
    [late, restarted],
    [restarted, late],
  ] as const) {
    const before = new Visitor(one);
    const form = fieldsOf((await before.get('/login')).html);
    const after = new Visitor(other);
    for (const [name, value] of before.cookies) after.cookies.set(name, value);
    expect((await after.post('/login', { ...form, ...anaika })).status).toBe(303);
  }
});

const own = 'https://id.example.com';
test.each<readonly [IncomingMessage['headers'], boolean]>([
  [{ origin: own, 'sec-fetch-site': 'same-origin' }, true],
  [{ origin: own }, true],
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{}, true],
  // The browser hides the origin if a proxy sets `Referrer-Policy: no-referrer`.
  [{ origin: 'null', 'sec-fetch-site': 'same-origin' }, true],
  [{ origin: 'null', 'sec-fetch-site': 'cross-site' }, false],
  [{ origin: 'null' }, false],
  [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, false],
  [{ 'sec-fetch-site': 'same-site' }, false],
])('a form with the headers %j is from this server: %s', (headers, expected) => {
  expect(isSameOrigin({ headers } as IncomingMessage, own)).toBe(expected);
});
