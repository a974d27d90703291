import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Login } from '../../src/index.ts';
import { generousLimits, TestProvider } from '../support/provider.ts';

let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());

describe('the host is asked', () => {
  it('on every authorize, consent and connected-apps request, with the request itself', async () => {
    const asked: string[] = [];
    const host = provider.host;
    const watching = await TestProvider.start(
      {
        login: {
          authenticate(request: IncomingMessage) {
            asked.push(
              `${request.method} ${request.url?.split('?')[0]?.replace(/[A-Za-z0-9_-]{20,}$/, ':id')}`,
            );
            return host.login.authenticate(request);
          },
          loginUrl: host.login.loginUrl,
        },
      },
      host,
    );
    const app = await watching.client();
    const browser = watching.browser();
    await watching.code(app, {}, browser);
    await browser.get('/account/apps');
    await browser.post(`/account/apps/${app.id}/revoke`, { csrf: 'x' });
    expect(asked).toEqual([
      'GET /oauth/authorize',
      'GET /oauth/interaction/:id',
      'POST /oauth/interaction/:id',
      'GET /oauth/authorize/:id',
      'GET /account/apps',
      expect.stringMatching(/^POST \/account\/apps\//),
    ]);
    await watching.stop();
  });
});

describe('bad answers of the host', () => {
  const leak = 'do-not-show-this';

  async function answersOf(login: Partial<Login>) {
    const broken = await TestProvider.start({ login: { ...provider.host.login, ...login } });
    try {
      const app = await broken.client();
      const browser = broken.browser();
      const first = await browser.get(broken.authorizeUrl(app));
      const page = first.status === 303 ? await browser.get(first.location ?? '') : first;
      return [page, await browser.get('/account/apps')].map((answer) => ({
        ...answer,
        lines: broken.logged,
      }));
    } finally {
      await broken.stop();
    }
  }

  it.each([
    ['undefined', () => undefined],
    ['a string', () => 'user-ana'],
    ['no sub', () => ({ authenticatedAt: new Date() })],
    ['an empty sub', () => ({ sub: '', authenticatedAt: new Date() })],
    ['a sub of 256 characters', () => ({ sub: 'x'.repeat(256), authenticatedAt: new Date() })],
    ['a sub beyond ASCII', () => ({ sub: 'añá', authenticatedAt: new Date() })],
    ['a number as sub', () => ({ sub: 7, authenticatedAt: new Date() })],
    ['no time', () => ({ sub: 'user-ana' })],
    ['a time as text', () => ({ sub: 'user-ana', authenticatedAt: '2026-01-01' })],
    ['an invalid Date', () => ({ sub: 'user-ana', authenticatedAt: new Date(Number.NaN) })],
    [
      'an exception',
      () => {
        throw new Error(leak);
      },
    ],
    ['a rejection', () => Promise.reject(new Error(leak))],
  ])(
    'authenticate with %s is an error page and a log line, and lets nobody in',
    async (_name, authenticate) => {
      for (const answer of await answersOf({
        authenticate: authenticate as unknown as Login['authenticate'],
      })) {
        expect([answer.status, answer.location]).toEqual([500, null]);
        expect(answer.text).toContain('server_error');
        expect(answer.text).not.toContain(leak);
        expect(answer.lines.map((line) => line.level)).toEqual(['error', 'error']);
      }
    },
  );

  it.each([
    ['undefined', () => undefined],
    ['a number', () => 5],
    ['no URL', () => 'https://'],
    ['a script', () => 'javascript:alert(1)'],
    ['a data URL', () => 'data:text/html,x'],
    [
      'an exception',
      () => {
        throw new Error(leak);
      },
    ],
  ])('loginUrl with %s is an error page and a log line', async (_name, loginUrl) => {
    for (const answer of await answersOf({
      authenticate: () => null,
      loginUrl: loginUrl as unknown as Login['loginUrl'],
    })) {
      expect([answer.status, answer.location]).toEqual([500, null]);
      expect(answer.text).not.toContain(leak);
      expect(answer.lines.map((line) => line.level)).toEqual(['error', 'error']);
    }
  });

  it('loginUrl may be relative to authUrl, or on another host', async () => {
    for (const [given, expected] of [
      ['/sign-in?x=1', '/sign-in?x=1'],
      ['https://login.example/', 'https://login.example/'],
    ] as const) {
      const [page] = await answersOf({ authenticate: () => null, loginUrl: () => given });
      expect(page?.status).toBe(303);
      expect(page?.location?.endsWith(expected)).toBe(true);
    }
  });
});
