import { describe, expect, it, onTestFinished } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { pkce, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const database = fragileStorage();
const provider = await startProvider({ storage: database.storage });
const client = await provider.client();

/**
 * One request: prepared while the database works, then sent once for each call that it makes, with this call
 * failing.
 */
interface Scenario {
  /** Answers how to send the request; sending it twice must be possible. */
  readonly prepare: () => Promise<() => Promise<Answer>>;
  /** What comes of it when the database works, also after it failed in the middle of the same request. */
  readonly outcome: string;
  /** Calls that the request has to make, so that nobody tests nothing. */
  readonly calls: readonly string[];
}

const page = { origin: 'https://app.example' };

/** A request that ends a token, which lives on where it fails. */
const endsToken = (token: string, send: () => Promise<Answer>) => async () => {
  const answer = await send();
  database.breakWhen(null);
  expect(await provider.isAlive(token)).toBe(answer.status >= 500);
  return answer;
};

const scenarios: Record<string, Scenario> = {
  'the exchange of a code': {
    async prepare() {
      const { code, verifier } = await provider.boundCode(client);
      return () => provider.exchange(client, code, { code_verifier: verifier });
    },
    outcome: '200 ok',
    calls: ['clients.find', 'grants.find', 'grants.redeem'],
  },
  'the exchange of a code by a page': {
    async prepare() {
      const body = tokenRequest(client, await provider.code(client));
      return () => provider.call('/v1/oauth/token', body, page);
    },
    outcome: '200 ok',
    calls: ['clients.originRegistered', 'clients.find', 'grants.find', 'grants.redeem'],
  },
  'a wrong verifier': {
    async prepare() {
      const { code } = await provider.boundCode(client);
      return () => provider.exchange(client, code, { code_verifier: pkce().verifier });
    },
    outcome: '400 invalid_grant',
    calls: ['grants.recordFailedVerifier'],
  },
  // Without a count a wrong secret could be tried for ever.
  'a wrong secret': {
    prepare: async () => () => provider.exchange(client, 'x', { client_secret: 'wrong' }),
    outcome: '401 invalid_client',
    calls: ['rateLimits.peek', 'rateLimits.consume'],
  },
  'a replayed code': {
    async prepare() {
      const code = await provider.code(client);
      const token = String((await provider.exchange(client, code)).json().access_token);
      return endsToken(token, () => provider.exchange(client, code));
    },
    outcome: '400 invalid_grant',
    calls: ['grants.revoke'],
  },
  userinfo: {
    async prepare() {
      const token = await provider.token(client);
      return () => provider.userinfo(token, page);
    },
    outcome: '200 ok',
    calls: ['clients.originRegistered', 'grants.findToken', 'clients.find'],
  },
  revocation: {
    async prepare() {
      const token = await provider.token(client);
      return endsToken(token, () => provider.revoke(token));
    },
    outcome: '200 ok',
    calls: ['grants.revokeToken'],
  },
  'revocation by a page': {
    async prepare() {
      const token = await provider.token(client);
      return endsToken(token, () => provider.revoke(token, page));
    },
    outcome: '200 ok',
    calls: ['clients.originRegistered', 'grants.findToken', 'clients.find', 'grants.revokeToken'],
  },
  'a preflight request': {
    prepare: async () => () => provider.request('/v1/oauth/token', { method: 'OPTIONS', headers: page }),
    outcome: '204 ok',
    calls: ['clients.originRegistered'],
  },
  'an authorization request that needs no page': {
    async prepare() {
      const browser = provider.browser();
      return () => browser.get(provider.authorizeUrl(client));
    },
    outcome: '303 code',
    calls: ['clients.find', 'consents.find', 'grants.issue'],
  },
  'an authorization request of a program': {
    async prepare() {
      const browser = provider.browser();
      const url = provider.authorizeUrl(client, { prompt: 'none' });
      return () => browser.get(url, { accept: 'application/json' });
    },
    outcome: '303 code',
    calls: ['clients.find', 'consents.find', 'grants.issue'],
  },
  'an authorization request that needs a page': {
    async prepare() {
      const browser = provider.browser();
      const fresh = await provider.client();
      return () => browser.get(provider.authorizeUrl(fresh));
    },
    outcome: '303 interaction',
    calls: ['clients.find', 'consents.find', 'interactions.save'],
  },
  'the consent page': {
    async prepare() {
      const { browser, address } = await openConsent(provider, await provider.client());
      return () => browser.get(address);
    },
    outcome: '200 ok',
    calls: ['interactions.find', 'clients.find', 'consents.find'],
  },
  'an approval': {
    async prepare() {
      const { approve } = await openConsent(provider, await provider.client());
      return () => approve();
    },
    outcome: '303 elsewhere',
    calls: ['interactions.find', 'clients.find', 'consents.remember', 'interactions.replace'],
  },
  'a refusal': {
    prepare: async () => (await openConsent(provider, await provider.client())).deny,
    outcome: '303 elsewhere',
    calls: ['interactions.find', 'interactions.replace'],
  },
  'the page of connected apps': {
    async prepare() {
      const browser = provider.browser();
      return () => browser.get('/account/apps');
    },
    outcome: '200 ok',
    calls: ['consents.list', 'clients.find'],
  },
  'the removal of a connected app': {
    async prepare() {
      const app = await provider.client();
      const browser = provider.browser();
      const token = await provider.token(app, 'openid', browser);
      const csrf = (await provider.connectedApps(browser)).get(app.id) ?? '';
      return endsToken(token, () => browser.post(`/account/apps/${app.id}/revoke`, { csrf }));
    },
    outcome: '303 elsewhere',
    calls: ['consents.revoke'],
  },
};

/** That an answer tells nothing but that something is wrong here, and gives nothing. */
function expectFailure(answer: Answer, call: string, outcome = '503 temporarily_unavailable'): void {
  expect([call, answer.outcome, answer.location]).toEqual([call, outcome, null]);
  expect(answer.headers.get('retry-after')).toBe(answer.status === 503 ? '1' : null);
  const told = answer.text + [...answer.headers].join();
  expect(told).not.toMatch(/secret detail|TypeError|STORAGE_|node:|\.ts\b|\n\s+at /);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  // A cookie may be taken away, not given.
  for (const cookie of answer.headers.getSetCookie()) expect(cookie).toContain('expires=Thu, 01 Jan 1970');
}

const unavailable = database.error;
const defect = new TypeError('secret detail of a defect');

describe('a database that fails', () => {
  it.each(
    Object.entries(scenarios).flatMap(([name, scenario]) => [
      [name, '503 temporarily_unavailable', unavailable, scenario] as const,
      [name, '500 server_error', defect, scenario] as const,
    ]),
  )(
    'in any call of %s is %s, and afterwards the same request works',
    async (_name, failure, error, scenario) => {
      const healthy = await scenario.prepare();
      database.forget();
      expect((await healthy()).outcome).toBe(scenario.outcome);
      const calls = [...database.calls];
      expect(calls).toEqual(expect.arrayContaining([...scenario.calls]));

      database.error = error;
      onTestFinished(() => {
        database.error = unavailable;
      });
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
        if (!broke) continue;
        expectFailure(answer, call, failure);
        expect(provider.errors.map(({ fields }) => (fields as { err: unknown }).err)).toEqual([error]);
        expect((await send()).outcome).toBe(scenario.outcome);
      }
    },
  );

  // That page asks for all of its clients at once.
  it.each(Object.entries(scenarios).filter(([name]) => name !== 'the page of connected apps'))(
    'from some call of %s on is asked no more: each call takes its time to fail',
    async (_name, scenario) => {
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
      const page = await openConsent(provider, fresh);
      const { location } = await page.approve();
      database.forget();
      database.breakWhen((_call, index) => index === fails);
      const answer = await page.browser.get(location ?? '');
      database.breakWhen(null);
      return { answer, again: () => provider.attempt(fresh, {}, page.browser) };
    };
    expect((await attempt(null)).answer.outcome).toBe('303 code');
    const calls = [...database.calls];
    const needed = [
      'interactions.find',
      'interactions.remove',
      'clients.find',
      'consents.find',
      'grants.issue',
    ];
    expect(calls).toEqual(expect.arrayContaining(needed));
    for (const [index, call] of calls.entries()) {
      const { answer, again } = await attempt(index);
      expectFailure(answer, call);
      expect(await again()).toBe('code');
    }
  });

  it('altogether is told by ready(), and what hangs on no database answers on', async () => {
    database.breakWhen(() => true);
    await expect(provider.ostiary.ready()).rejects.toThrow();
    for (const path of ['/.well-known/openid-configuration', '/.well-known/jwks.json'])
      expect((await provider.request(path)).status).toBe(200);
    database.breakWhen(null);
    await expect(provider.ostiary.ready()).resolves.toBeUndefined();
  });

  it('only where the signing keys are read does not stop anybody: the last ones stay in use', async () => {
    database.breakWhen((call) => call === 'signingKeys.list');
    provider.clock.advance(60_000);
    database.forget();
    const token = await provider.token(client);
    expect(database.calls).toContain('signingKeys.list');
    expect((await provider.request('/.well-known/jwks.json')).json().keys).toHaveLength(2);
    database.breakWhen(null);
    expect(await provider.isAlive(token)).toBe(true);
  });
});
