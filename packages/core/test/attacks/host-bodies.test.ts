import type { IncomingMessage } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { tokenRequest } from '../support/provider.ts';
import { serve, startProvider } from '../support/running.ts';

const inherited = { token: 'a', code: 'b', csrf: 'c', decision: 'approve' };
/**
 * Values that a host application's body parser may give a parameter, including a string object with methods.
 */
const values = [['a', 'b'], { a: 'b' }, () => 'a', Object('a'), Symbol('a'), 1n, new Date(0)];
/** Request bodies as parsers of hosts leave them in `request.body`, and worse ones. */
const parsed: readonly unknown[] = [
  ...values.map((token) => ({ token })),
  ...[['token'], 'token=a', Buffer.from('token=a'), new Map([['token', 'a']]), null, false, 1],
  Object.assign(Object.create(null), { other: 'a' }),
  Object.create(inherited),
  JSON.parse('{"__proto__":{"token":"a"}}'),
];

describe('bodies that a parser of the host has read', async () => {
  const provider = await startProvider();
  let body: unknown;
  const origin = await serve(async (request: IncomingMessage & { body?: unknown }, response) => {
    for await (const _ of request);
    request.body = body;
    provider.ostiary.handler(request, response);
  });

  async function post(path: string, headers: Record<string, string> = {}) {
    const type = { 'content-type': 'application/x-www-form-urlencoded', connection: 'close' };
    return answerOf(
      await fetch(origin + path, { method: 'POST', body: 'x', headers: { ...type, ...headers } }),
    );
  }

  it.each(parsed.map((value) => [inspect(value), value]))(
    '%s is refused everywhere',
    async (_name, value) => {
      const page = await openConsent(provider, await provider.client());
      body = value;
      for (const path of ['/v1/oauth/token', '/v1/oauth/revoke', '/v1/oauth/userinfo', '/oauth/authorize'])
        expect.soft((await post(path)).outcome, path).toMatch(/^400 invalid_request|401 invalid_token$/);
      expect((await post(page.path, { cookie: page.browser.cookieHeader(page.path) })).status).toBe(400);
    },
  );

  it('cannot smuggle in what the strict parser would have refused', async () => {
    const client = await provider.client();
    const { code, verifier } = await provider.boundCode(client);
    const good = { ...tokenRequest(client, code), code_verifier: verifier };
    const redirect_uri = `${client.redirectUri}\u0000`;
    for (const change of [{ code: `${code}\u0000` }, { client_id: `${client.id}\ud800` }, { redirect_uri }]) {
      body = { ...good, ...change };
      expect([400, 401]).toContain((await post('/v1/oauth/token')).status);
    }
    // Parameters that the endpoint does not know are ignored.
    body = { ...good, resource: ['a', 'b'], future: null };
    expect((await post('/v1/oauth/token')).status).toBe(200);
  });

  it('that were read and discarded cause an immediate error instead of a wait', async () => {
    body = undefined;
    const answer = await post('/v1/oauth/revoke');
    expect([answer.outcome, answer.json().error_description]).toEqual([
      '400 invalid_request',
      expect.stringMatching(/read before/),
    ]);
    expect(provider.errors).toEqual([]);
  });
});
