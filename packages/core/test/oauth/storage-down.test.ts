// Longer than other files: one table with a row for every endpoint, and the tests that walk it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, TestBrowser } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { type FragileStorage, fragileStorage } from '../support/fragile-storage.ts';
import { generousLimits, pkce, type TestClient, TestProvider } from '../support/provider.ts';

let database: FragileStorage;
let provider: TestProvider;
let client: TestClient;

beforeAll(async () => {
  database = fragileStorage();
  provider = await TestProvider.start({ storage: database.storage, limits: generousLimits });
  client = await provider.client();
});
afterAll(() => provider.stop());

/**
 * One request: prepared while the database works, then sent once for each call that it makes, with this call
 * failing.
 */
interface Scenario {
  /** Answers how to send the request; sending it twice must be possible. */
  readonly prepare: () => Promise<() => Promise<Answer>>;
  /** What the answer is when the database works, also after it failed in the middle of the same request. */
  readonly expected: (answer: Answer) => unknown;
  /** Calls that the request has to make, so that nobody tests nothing. */
  readonly calls: readonly string[];
}

const status = ({ status }: Answer) => status;
const origin = 'https://app.example';
const alive = async (token: string) => (await provider.userinfo(token)).status === 200;

async function boundCode(): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = pkce();
  return {
    verifier,
    code: await provider.code(client, { code_challenge: challenge, code_challenge_method: 'S256' }),
  };
}

async function consentPage(): Promise<{ browser: TestBrowser; address: string; csrf: string }> {
  const browser = provider.browser();
  return { browser, ...(await openConsent(provider, await provider.client(), {}, browser)) };
}

const scenarios: Record<string, readonly [Scenario, unknown]> = {
  'the exchange of a code': [
    {
      async prepare() {
        const { code, verifier } = await boundCode();
        return () => provider.exchange(client, code, { code_verifier: verifier });
      },
      expected: status,
      calls: ['clients.find', 'grants.find', 'grants.redeem'],
    },
    200,
  ],
  'the exchange of a code by a page': [
    {
      async prepare() {
        const code = await provider.code(client);
        const body = {
          grant_type: 'authorization_code',
          code,
          redirect_uri: client.redirectUri,
          client_id: client.id,
          client_secret: client.secret,
        };
        return () => provider.call('/v1/oauth/token', body, { origin });
      },
      expected: status,
      calls: ['clients.originRegistered', 'clients.find', 'grants.find', 'grants.redeem'],
    },
    200,
  ],
  'a wrong verifier': [
    {
      async prepare() {
        const { code } = await boundCode();
        return () => provider.exchange(client, code, { code_verifier: pkce().verifier });
      },
      expected: status,
      calls: ['grants.recordFailedVerifier'],
    },
    400,
  ],
  'a replayed code': [
    {
      async prepare() {
        const code = await provider.code(client);
        const token = String((await provider.exchange(client, code)).json().access_token);
        return async () => {
          const answer = await provider.exchange(client, code);
          database.breakWhen(null);
          expect(await alive(token)).toBe(answer.status === 503);
          return answer;
        };
      },
      expected: status,
      calls: ['grants.revoke'],
    },
    400,
  ],
  userinfo: [
    {
      async prepare() {
        const token = await provider.token(client);
        return () => provider.userinfo(token, { origin });
      },
      expected: status,
      calls: ['clients.originRegistered', 'grants.findToken', 'clients.find'],
    },
    200,
  ],
  revocation: [
    {
      async prepare() {
        const token = await provider.token(client);
        return async () => {
          const answer = await provider.call('/v1/oauth/revoke', { token });
          database.breakWhen(null);
          expect(await alive(token)).toBe(answer.status !== 200);
          return answer;
        };
      },
      expected: status,
      calls: ['grants.revokeToken'],
    },
    200,
  ],
  'revocation by a page': [
    {
      async prepare() {
        const token = await provider.token(client);
        return async () => {
          const answer = await provider.call('/v1/oauth/revoke', { token }, { origin });
          database.breakWhen(null);
          expect(await alive(token)).toBe(answer.status !== 200);
          return answer;
        };
      },
      expected: status,
      calls: ['clients.originRegistered', 'grants.findToken', 'clients.find', 'grants.revokeToken'],
    },
    200,
  ],
  'a preflight request': [
    {
      prepare: async () => () =>
        provider.request('/v1/oauth/token', { method: 'OPTIONS', headers: { origin } }),
      expected: status,
      calls: ['clients.originRegistered'],
    },
    204,
  ],
  'an authorization request that needs no page': [
    {
      async prepare() {
        const browser = provider.browser();
        return () => browser.get(provider.authorizeUrl(client));
      },
      expected: ({ location }) => location?.includes('code='),
      calls: ['clients.find', 'consents.find', 'grants.issue'],
    },
    true,
  ],
  'an authorization request of a program': [
    {
      async prepare() {
        const browser = provider.browser();
        return () =>
          browser.get(provider.authorizeUrl(client, { prompt: 'none' }), { accept: 'application/json' });
      },
      expected: ({ location }) => location?.includes('code='),
      calls: ['clients.find', 'consents.find', 'grants.issue'],
    },
    true,
  ],
  'an authorization request that needs a page': [
    {
      async prepare() {
        const browser = provider.browser();
        const fresh = await provider.client();
        return () => browser.get(provider.authorizeUrl(fresh));
      },
      expected: ({ location }) => location?.includes('/oauth/interaction/'),
      calls: ['clients.find', 'consents.find', 'interactions.save'],
    },
    true,
  ],
  'the consent page': [
    {
      async prepare() {
        const { browser, address } = await consentPage();
        return () => browser.get(address);
      },
      expected: status,
      calls: ['interactions.find', 'clients.find', 'consents.find'],
    },
    200,
  ],
  'an approval': [
    {
      async prepare() {
        const { browser, address, csrf } = await consentPage();
        return () => browser.post(address, { csrf, decision: 'approve' });
      },
      expected: ({ location }) => location?.includes('/oauth/authorize/'),
      calls: ['interactions.find', 'clients.find', 'consents.remember', 'interactions.replace'],
    },
    true,
  ],
  'a refusal': [
    {
      async prepare() {
        const { browser, address, csrf } = await consentPage();
        return () => browser.post(address, { csrf, decision: 'deny' });
      },
      expected: ({ location }) => location?.includes('/oauth/authorize/'),
      calls: ['interactions.find', 'interactions.replace'],
    },
    true,
  ],
  'the page of connected apps': [
    {
      async prepare() {
        const browser = provider.browser();
        return () => browser.get('/account/apps');
      },
      expected: status,
      calls: ['consents.list', 'clients.find'],
    },
    200,
  ],
  'the removal of a connected app': [
    {
      async prepare() {
        const app = await provider.client();
        const browser = provider.browser();
        const token = await provider.token(app, 'openid', browser);
        const { text } = await browser.get('/account/apps');
        const form = text.split('<form').find((part) => part.includes(app.id)) ?? '';
        const csrf = /name="csrf" value="([^"]+)"/.exec(form)?.[1] ?? '';
        return async () => {
          const answer = await browser.post(`/account/apps/${app.id}/revoke`, { csrf });
          database.breakWhen(null);
          expect(await alive(token)).toBe(answer.status !== 303);
          return answer;
        };
      },
      expected: status,
      calls: ['consents.revoke'],
    },
    303,
  ],
};

function expectUnavailable(answer: Answer, call: string): void {
  expect([call, answer.status, answer.headers.get('retry-after'), answer.location]).toEqual([
    call,
    503,
    '1',
    null,
  ]);
  expect(answer.text).toContain('temporarily_unavailable');
  expect(answer.text).not.toContain('secret detail');
  expect(answer.headers.get('cache-control')).toBe('no-store');
}

describe('a database that fails', () => {
  it.each(Object.entries(scenarios))(
    'in any call of %s is 503, and afterwards the same request works',
    async (_name, [scenario, expected]) => {
      const healthy = await scenario.prepare();
      database.forget();
      expect(scenario.expected(await healthy())).toEqual(expected);
      const calls = [...database.calls];
      for (const call of scenario.calls) expect(calls).toContain(call);

      for (const [index, call] of calls.entries()) {
        const send = await scenario.prepare();
        database.forget();
        provider.logged.length = 0;
        let broke = false;
        database.breakWhen((_call, at) => {
          broke ||= at === index;
          return at === index;
        });
        const answer = await send();
        database.breakWhen(null);
        // Some requests look at the outcome after they were answered: those calls are not the request's.
        if (!broke || answer.status === expected) continue;
        expectUnavailable(answer, call);
        expect(
          provider.logged.map(({ level, fields }) => [level, String((fields as { err: Error }).err)]),
        ).toEqual([['error', 'Error: secret detail of the database']]);
        const again = await send();
        expect(scenario.expected(again)).toEqual(expected);
      }
    },
  );

  // That page asks for all of its clients at once.
  it.each(Object.entries(scenarios).filter(([name]) => name !== 'the page of connected apps'))(
    'from some call of %s on is asked no more: each call takes its time to fail',
    async (_name, [scenario]) => {
      const healthy = await scenario.prepare();
      database.forget();
      await healthy();
      const { length } = database.calls;
      for (let index = 0; index < length; index += 1) {
        const send = await scenario.prepare();
        database.forget();
        const failed: string[] = [];
        database.breakWhen((call, at) => {
          if (at >= index) failed.push(call);
          return at >= index;
        });
        await send();
        database.breakWhen(null);
        expect(failed.slice(1), `after ${failed[0]}`).toEqual([]);
      }
    },
  );

  it('on the way back to the client is 503, and the request passes without a page when it is made again', async () => {
    const attempt = async (fails: number | null) => {
      const fresh = await provider.client();
      const browser = provider.browser();
      const page = await openConsent(provider, fresh, {}, browser);
      const { location } = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
      database.forget();
      database.breakWhen((_call, index) => index === fails);
      const answer = await browser.get(location ?? '');
      database.breakWhen(null);
      return { answer, again: () => browser.get(provider.authorizeUrl(fresh)) };
    };
    expect((await attempt(null)).answer.location).toContain('code=');
    const calls = [...database.calls];
    for (const call of [
      'interactions.find',
      'interactions.remove',
      'clients.find',
      'consents.find',
      'grants.issue',
    ])
      expect(calls).toContain(call);
    for (const [index, call] of calls.entries()) {
      const { answer, again } = await attempt(index);
      expectUnavailable(answer, call);
      expect((await again()).location).toContain('code=');
    }
  });

  it('altogether is 503 on every endpoint that needs it, and never 200', async () => {
    const token = await provider.token(client);
    const browser = provider.browser();
    database.breakWhen(() => true);
    const answers = {
      token: await provider.exchange(client, 'x'),
      userinfo: await provider.userinfo(token),
      revocation: await provider.call('/v1/oauth/revoke', { token }),
      authorize: await browser.get(provider.authorizeUrl(client)),
      apps: await browser.get('/account/apps'),
    };
    await expect(provider.ostiary.ready()).rejects.toThrow();
    const documents = [
      await provider.request('/.well-known/openid-configuration'),
      await provider.request('/.well-known/jwks.json'),
    ];
    database.breakWhen(null);
    for (const [name, answer] of Object.entries(answers)) expectUnavailable(answer, name);
    // What hangs on no database answers on.
    expect(documents.map(status)).toEqual([200, 200]);
    await expect(provider.ostiary.ready()).resolves.toBeUndefined();
    expect(await alive(token)).toBe(true);
  });

  it('only where the signing keys are read does not stop anybody: the last ones stay in use', async () => {
    database.breakWhen((call) => call === 'signingKeys.list');
    provider.clock.advance(60_000);
    database.forget();
    const token = await provider.token(client);
    expect(database.calls).toContain('signingKeys.list');
    expect((await provider.request('/.well-known/jwks.json')).json().keys).toHaveLength(2);
    database.breakWhen(null);
    expect(await alive(token)).toBe(true);
  });
});
