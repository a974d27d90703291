import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AttackTokens, acceptedAttacks, mixedUpUsers, signIn } from '../../support/mcp/attacks.ts';
import { startNotes } from '../../support/mcp/notes.ts';
import { SignInBrowser } from '../../support/mcp/sign-in-browser.ts';

const redirectUri = 'http://127.0.0.1:51236/callback';
const app = { clientId: 'assistant', redirectUri };

let service: Awaited<ReturnType<typeof startNotes>>;
let tokens: AttackTokens;

const ana = new SignInBrowser({ name: 'ana' });
const ben = new SignInBrowser({ name: 'ben' });

async function tokenOf(browser: SignInBrowser, request: Omit<Parameters<typeof signIn>[2], 'redirectUri'>) {
  return String((await signIn(service.site, browser, { redirectUri, ...request })).access_token);
}

beforeAll(async () => {
  service = await startNotes();
  await service.ostiary.admin.clients.create({
    ...{ clientId: 'web', name: 'Web', public: true, loopbackPorts: 'any' },
    redirectUris: ['http://127.0.0.1/callback'],
    allowedScopes: ['openid', 'profile'],
  });
  const { url: resource } = service;
  tokens = {
    reader: await tokenOf(ana, { ...app, scope: 'notes:read', resource }),
    writer: await tokenOf(ben, { ...app, scope: 'notes:read notes:write', resource }),
    elsewhere: await tokenOf(ana, { clientId: 'web', scope: 'openid profile' }),
  };
  return () => service.stop();
});

describe('an attacked MCP server', () => {
  it('refuses what it must refuse', async () => {
    expect(await acceptedAttacks(service.url, tokens)).toEqual([]);
  });

  it('never gives one user the answer of another', async () => {
    expect(await mixedUpUsers(service.url, tokens)).toEqual([]);
  });

  it('gives a token for its tools nothing at userinfo', async () => {
    const headers = { Authorization: `Bearer ${tokens.writer}` };
    const answer = await fetch(`${service.site}/v1/oauth/userinfo`, { headers });
    expect([answer.status, await answer.json()]).toEqual([200, {}]);
  });

  it.each(['/mcp/', '/MCP', '/mcp#a', '/mcp?a=b', '/', ''])(
    'has no token for the resource %j',
    async (path) => {
      const resource = service.site + path;
      const answer = await signIn(service.site, ana, { ...app, scope: 'notes:read', resource });
      expect(answer).toMatchObject({ error_of_callback: 'invalid_target' });
    },
  );

  it('refuses a login form that is too long', async () => {
    const body = new URLSearchParams({ name: 'a'.repeat(1 << 20) });
    expect((await fetch(`${service.site}/login`, { method: 'POST', body })).status).toBe(413);
  });

  it('has the metadata document under its own path only', async () => {
    const paths = ['', '/mcp/', '/MCP', '/../oauth-protected-resource/mcp%2f'];
    const answers = paths.map((path) => fetch(`${service.site}/.well-known/oauth-protected-resource${path}`));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(paths.map(() => 404));
  });

  it.each([
    'GET // HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n',
    'TRACE /mcp HTTP/1.1\r\nHost: a\r\n\r\n',
    'POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{',
    'POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{',
  ])('survives %j from a client that hangs up', async (request) => {
    const socket = connect(Number(new URL(service.site).port), '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.end(request);
    await once(socket, 'close');
    expect((await fetch(service.url, { method: 'POST' })).status).toBe(401);
  });
});
