import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Login } from '../../src/index.ts';
import { ana } from '../support/directory.ts';
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
      'a time more than a minute in the future',
      () => ({ sub: 'user-ana', authenticatedAt: new Date(Date.now() + 90_000) }),
    ],
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

describe('a user whom nothing could be told about', () => {
  it('is not asked for consent when the host does not know them: the app hears access_denied, the log why', async () => {
    const other = await TestProvider.start();
    const app = await other.client();
    other.host.people.clear();
    const answer = await other.authorize(app);
    expect([answer.get('error'), answer.get('state')]).toEqual(['access_denied', 'a state']);
    expect(other.logged).toEqual([
      {
        level: 'warn',
        message: 'a user was refused: users.find does not know the sub that login.authenticate names',
        fields: { client: app.id },
      },
    ]);
    await other.stop();
  });

  it.each([
    ['createdAt', '2026-01-01 10:00:00', 'openid'],
    ['kid', undefined, 'openid'],
    ['kycTier', 4, 'kyc'],
    ['htgBalance', 12.5, 'wallet:balance'],
  ])(
    'is an error page before the consent when %s is %s, and none where no scope shows it',
    async (field, value, scope) => {
      const other = await TestProvider.start();
      const app = await other.client();
      other.host.people.set(ana.sub, { ...ana, [field]: value });
      const answer = await other.follow(other.browser(), other.authorizeUrl(app, { scope }));
      expect([answer.status, answer.location]).toEqual([500, null]);
      expect(answer.text).not.toContain('name="csrf"');
      expect(other.logged).toMatchObject([
        { level: 'error', fields: { err: { message: expect.stringContaining(`users.find: ${field}: `) } } },
      ]);
      expect(await other.code(app, { scope: 'profile' })).toMatch(/^[A-Za-z0-9_-]{43}$/);
      await other.stop();
    },
  );

  it('is asked for once per page, with the scopes that would be shown and the name of the user', async () => {
    const asked: string[][] = [];
    const host = provider.host;
    const other = await TestProvider.start({
      users: {
        find(sub, scopes) {
          asked.push([...scopes]);
          return host.users.find(sub, scopes);
        },
      },
    });
    const app = await other.client();
    const browser = other.browser();
    const { location } = await browser.get(other.authorizeUrl(app, { scope: 'kyc' }));
    expect((await browser.get(location ?? '')).text).toContain(ana.name);
    expect(asked).toEqual([['kyc', 'profile']]);
    await other.stop();
  });
});
