import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pkce, type TestClient, TestProvider } from '../support/provider.ts';
import { openConsent } from './flow-steps.ts';

/** Bodies as parsers of hosts leave them in `request.body`, and worse. */
const parsed: Readonly<Record<string, unknown>> = {
  'a repeated parameter as a list': { token: ['a', 'b'] },
  'nested parameters': { token: { a: 'b' } },
  'a list': ['token'],
  text: 'token=a',
  bytes: Buffer.from('token=a'),
  nothing: null,
  false: false,
  'a number': 1,
  'an object without a prototype': Object.assign(Object.create(null), { other: 'a' }),
  'inherited parameters': Object.create({ token: 'a', code: 'b', csrf: 'c', decision: 'approve' }),
  'own __proto__': JSON.parse('{"__proto__":{"token":"a"}}'),
  'a method as a parameter': { token: () => 'a' },
  'an object that poses as a string': { token: Object('a') },
  'a symbol': { token: Symbol('a') },
  'a big integer': { token: 1n },
  'a map': new Map([['token', 'a']]),
  'a date': { token: new Date(0) },
};

describe('bodies that a parser of the host has read', () => {
  let provider: TestProvider;
  let server: Server;
  let origin: string;
  let body: unknown;
  beforeAll(async () => {
    provider = await TestProvider.start({ limits: { failedClientAuthentications: 1_000_000 } });
    server = createServer(async (request: IncomingMessage & { body?: unknown }, response) => {
      for await (const _ of request);
      request.body = body;
      provider.ostiary.handler(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await provider.stop();
  });

  async function post(
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; text: string }> {
    const type = { 'content-type': 'application/x-www-form-urlencoded', connection: 'close' };
    const response = await fetch(origin + path, {
      method: 'POST',
      body: 'x',
      headers: { ...type, ...headers },
    });
    return { status: response.status, text: await response.text() };
  }

  it.each(Object.entries(parsed))('%s is refused everywhere', async (_name, value) => {
    const browser = provider.browser();
    const page = await openConsent(provider, browser, await provider.client());
    body = value;
    for (const path of ['/v1/oauth/token', '/v1/oauth/revoke', '/v1/oauth/userinfo', '/oauth/authorize']) {
      const answer = await post(path);
      expect.soft([400, 401], path).toContain(answer.status);
      expect.soft(answer.text, path).toMatch(/^\{"error":"invalid_(request|token)"/);
    }
    const consent = await post(page.path, { cookie: browser.cookieHeader(page.path) });
    expect(consent.status).toBe(400);
  });

  it('cannot smuggle in what the strict parser would have refused', async () => {
    const client: TestClient = await provider.client();
    const { verifier, challenge } = pkce();
    const code = await provider.code(client, { code_challenge: challenge, code_challenge_method: 'S256' });
    const good = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      client_id: client.id,
      code_verifier: verifier,
    };
    for (const change of [
      { code: `${code}\u0000` },
      { client_id: `${client.id}\ud800` },
      { redirect_uri: `${client.redirectUri}\u0000` },
    ]) {
      body = { ...good, ...change };
      expect([400, 401]).toContain((await post('/v1/oauth/token')).status);
    }
    body = good;
    expect((await post('/v1/oauth/token')).status).toBe(200);
  });

  it('that were read and thrown away are an answer, not a wait', async () => {
    body = undefined;
    expect((await post('/v1/oauth/revoke')).status).toBe(400);
    expect(provider.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
