import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { openProxy, type ProxyName, proxies } from '../../../lab/support/processes/proxies.ts';
import { startServer } from './support/server.ts';

/** Sends bytes, hangs up after the response or after `cutMs`, and returns the first line of the response. */
function sendBytes(origin: string, bytes: readonly (string | Buffer)[], cutMs: number | null) {
  return new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(origin).port), 'localhost');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      if (received.includes('\r\n\r\n')) socket.end();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(received.split('\r\n', 1)[0] ?? ''));
    for (const one of bytes) socket.write(one);
    if (cutMs !== null) setTimeout(() => socket.destroy(), cutMs);
  });
}

const body = Buffer.alloc(4_000_000, 'a');
const long = ['A', 'B', 'C'].map((name) => `${name}: ${'x'.repeat(7_000)}\r\n`).join('');
const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
const put = (path: string, headers: string) =>
  `PUT ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Length: ${body.length}\r\n\r\n`;
const post = (path: string, headers: string) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

/** Requests of strangers that end without a proper response. */
const strange: Readonly<Record<string, readonly [(string | Buffer)[], cutMs: number | null]>> = {
  'has long headers and a body': [[put('/healthz', long), body], null],
  'has a control character in a header, and a body': [[put('/healthz', 'X: a\x01b\r\n'), body], null],
  'has an unknown method and a body': [[put('/healthz', '').replace('PUT', 'FOO'), body], null],
  'hangs up within a form': [[post('/login', `${form}Content-Length: 99\r\n`), 'a=b'], 200],
  'hangs up within a token request': [[post('/v1/oauth/token', `${form}Content-Length: 99\r\n`), 'a'], 200],
  'hangs up within chunks': [
    [post('/v1/oauth/token', `${form}Transfer-Encoding: chunked\r\n`), '1\r\na\r\n'],
    200,
  ],
};

async function startBehind(name: ProxyName) {
  const [first, second] = [await startServer(), await startServer()];
  const front = await freePort();
  const proxy = await openProxy(name, { front, webs: [first.server.port, second.server.port] });
  onTestFinished(() => proxy.close());
  return { servers: [first.server, second.server], origin: `http://localhost:${front}` };
}

describe.each(['nginx', 'HAProxy', 'Caddy'] satisfies ProxyName[])('behind %s', (name) => {
  const { program } = proxies[name];

  test.skipIf(program === undefined)(
    'no request of a stranger takes the server from others',
    async () => {
      const { origin } = await startBehind(name);
      for (const [what, [bytes, cutMs]] of Object.entries(strange)) {
        for (let time = 0; time < 4; time += 1) await sendBytes(origin, bytes, cutMs);
        const start = performance.now();
        const statuses: number[] = [];
        for (let time = 0; time < 4; time += 1) {
          const answer = await fetch(`${origin}/healthz`, { headers: { Connection: 'close' } });
          await answer.arrayBuffer();
          statuses.push(answer.status);
        }
        expect({ what, statuses }).toEqual({ what, statuses: [200, 200, 200, 200] });
        // A proxy that waits for a process to come back makes everyone wait.
        expect({ what, seconds: Math.floor((performance.now() - start) / 2_000) }).toEqual({
          what,
          seconds: 0,
        });
      }
    },
    60_000,
  );

  test.skipIf(program === undefined)(
    'the refusal of a form that is too large arrives',
    async () => {
      const { origin } = await startBehind(name);
      const lines: string[] = [];
      for (let time = 0; time < 10; time += 1) {
        lines.push(
          await sendBytes(origin, [post('/login', `${form}Content-Length: ${body.length}\r\n`), body], null),
        );
      }
      expect(new Set(lines.map((line) => line.split(' ')[1]))).toEqual(new Set(['413']));
    },
    60_000,
  );

  test.skipIf(program === undefined)(
    'the longest state and nonce that the server takes arrive at the app',
    async () => {
      const { servers, origin } = await startBehind(name);
      const redirectUri = 'https://app.example.com/callback';
      for (const { installation } of servers)
        await installation.ostiary.admin.clients.create({
          ...{ clientId: 'app', name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid'] },
        });
      const state = 's'.repeat(4_096);
      const request = { response_type: 'code', client_id: 'app', redirect_uri: redirectUri, scope: 'openid' };
      const parameters = new URLSearchParams({ ...request, prompt: 'none', state, nonce: 'n'.repeat(4_096) });
      const posted = await fetch(`${origin}/oauth/authorize`, {
        ...{ method: 'POST', body: parameters, redirect: 'manual' },
      });
      expect(posted.status).toBe(303);
      for (const query of [
        parameters.toString(),
        new URL(posted.headers.get('location') ?? '').search.slice(1),
      ]) {
        const answer = await fetch(`${origin}/oauth/authorize?${query}`, { redirect: 'manual' });
        const location = URL.parse(answer.headers.get('location') ?? '');
        expect([answer.status, location?.searchParams.get('state')]).toEqual([303, state]);
      }
    },
    60_000,
  );
});
