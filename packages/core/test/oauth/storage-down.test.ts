import { describe, expect, it, onTestFinished } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { pkce, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const database = fragileStorage();
const provider = await startProvider({ storage: database.storage });
const client = await provider.client();

type Send = () => Promise<Answer>;

/**
 * Requests by name. `outcome` is the outcome if the database works, also after it failed in the middle of the
 * same request; `calls` are storage calls that the request must make, so that no test is empty; `prepare`
 * prepares the request while the database works. The prepared request is then sent once for each call that it
 * makes, while that call fails.
 */
const scenarios: (readonly [name: string, outcome: string, calls: string[], prepare: () => Promise<Send>])[] =
  [];
const scenario = (...given: (typeof scenarios)[number]) => scenarios.push(given);

const page = { origin: 'https://app.example' };

/**
 * Wraps a request that revokes a token, and checks that the token stays valid if the request fails with a 5xx
 * status, and is revoked otherwise.
 */
const endsToken = (token: string, send: Send) => async () => {
  const answer = await send();
  database.breakWhen(null);
  expect(await provider.isAlive(token)).toBe(answer.status >= 500);
  return answer;
};

const exchange = ['rateLimits.peek', 'clients.find', 'grants.find', 'grants.redeem'];
const authorization = ['clients.find', 'consents.find', 'grants.issue'];
const ofPage = ['clients.originRegistered', 'grants.findToken', 'clients.find'];

scenario('the exchange of a code', '200 ok', exchange, async () => {
  const { code, verifier } = await provider.boundCode(client);
  return () => provider.exchange(client, code, { code_verifier: verifier });
});
const byPage = ['clients.originRegistered', ...exchange];
scenario('the exchange of a code by a page', '200 ok', byPage, async () => {
  const body = tokenRequest(client, await provider.code(client));
  return () => provider.call('/v1/oauth/token', body, page);
});
scenario('a wrong verifier', '400 invalid_grant', ['grants.recordFailedVerifier'], async () => {
  const { code } = await provider.boundCode(client);
  return () => provider.exchange(client, code, { code_verifier: pkce().verifier });
});
// The request is refused without a count: otherwise wrong secrets could be tried without a limit while
// counting fails.
scenario('a wrong secret', '401 invalid_client', ['rateLimits.peek', 'rateLimits.consume'], async () => {
  return () => provider.exchange(client, 'x', { client_secret: 'wrong' });
});
scenario('a replayed code', '400 invalid_grant', ['grants.revoke'], async () => {
  const code = await provider.code(client);
  const token = String((await provider.exchange(client, code)).json().access_token);
  return endsToken(token, () => provider.exchange(client, code));
});
scenario('userinfo', '200 ok', ofPage, async () => {
  const token = await provider.token(client);
  return () => provider.userinfo(token, page);
});
scenario('revocation', '200 ok', [...ofPage, 'grants.revokeToken'], async () => {
  const token = await provider.token(client);
  return endsToken(token, () => provider.revoke(token, page));
});
scenario('a preflight request', '204 ok', ['clients.originRegistered'], async () => {
  return () => provider.request('/v1/oauth/token', { method: 'OPTIONS', headers: page });
});
scenario('an authorization request that needs no page', '303 code', authorization, async () => {
  return () => provider.browser().get(provider.authorizeUrl(client));
});
scenario('an authorization request of a program', '303 code', authorization, async () => {
  const url = provider.authorizeUrl(client, { prompt: 'none' });
  return () => provider.browser().get(url, { accept: 'application/json' });
});
const begin = ['clients.find', 'consents.find', 'interactions.save'];
scenario('an authorization request that needs a page', '303 interaction', begin, async () => {
  const url = provider.authorizeUrl(await provider.client());
  return () => provider.browser().get(url);
});
const show = ['interactions.find', 'clients.find', 'consents.find'];
scenario('the consent page', '200 ok', show, async () => {
  const { browser, address } = await openConsent(provider, await provider.client());
  return () => browser.get(address);
});
const approval = ['interactions.find', 'clients.find', 'consents.remember', 'interactions.replace'];
scenario('an approval', '303 elsewhere', approval, async () => {
  const { approve } = await openConsent(provider, await provider.client());
  return () => approve();
});
scenario('a refusal', '303 elsewhere', ['interactions.find', 'interactions.replace'], async () => {
  return (await openConsent(provider, await provider.client())).deny;
});
scenario('the page of connected apps', '200 ok', ['consents.list', 'clients.find'], async () => {
  return () => provider.browser().get('/account/apps');
});
scenario('the removal of a connected app', '303 elsewhere', ['consents.revoke'], async () => {
  const app = await provider.client();
  const browser = provider.browser();
  const token = await provider.token(app, 'openid', browser);
  const csrf = (await provider.connectedApps(browser)).get(app.id) ?? '';
  return endsToken(token, () => browser.post(`/account/apps/${app.id}/revoke`, { csrf }));
});

/** Checks that a response reports only an internal failure, and contains no token or code. */
function expectFailure(answer: Answer, call: string, outcome = '503 temporarily_unavailable'): void {
  expect([call, answer.outcome, answer.location]).toEqual([call, outcome, null]);
  expect(answer.headers.get('retry-after')).toBe(answer.status === 503 ? '1' : null);
  const told = answer.text + [...answer.headers].join();
  expect(told).not.toMatch(/secret detail|TypeError|STORAGE_|node:|\.ts\b|\n\s+at /);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  // The response may remove a cookie, but not set one.
  for (const cookie of answer.headers.getSetCookie()) expect(cookie).toContain('expires=Thu, 01 Jan 1970');
}

const unavailable = database.error;
const defect = new TypeError('secret detail of a defect');

describe('a database that fails', () => {
  it.each(
    scenarios.flatMap(([name, ...rest]) => [
      [name, '503 temporarily_unavailable', unavailable, ...rest] as const,
      [name, '500 server_error', defect, ...rest] as const,
    ]),
  )(
    'in any call of %s is %s, and afterwards the same request works',
    async (_name, failure, error, outcome, needed, prepare) => {
      const healthy = await prepare();
      database.forget();
      expect((await healthy()).outcome).toBe(outcome);
      const calls = [...database.calls];
      expect(calls).toEqual(expect.arrayContaining([...needed]));

      database.error = error;
      onTestFinished(() => {
        database.error = unavailable;
      });
      for (const [index, call] of calls.entries()) {
        const send = await prepare();
        database.forget();
        provider.logged.length = 0;
        let broke = false;
        database.breakWhen((_call, at) => {
          broke ||= at === index;
          return at === index;
        });
        const answer = await send();
        database.breakWhen(null);
        // Calls after the response do not belong to the request: some requests read the outcome later.
        if (!broke) continue;
        expectFailure(answer, call, failure);
        expect(provider.errors.map(({ fields }) => (fields as { err: unknown }).err)).toEqual([error]);
        expect((await send()).outcome).toBe(outcome);
      }
    },
  );

  it.each(scenarios)(
    'from some call of %s on is waited for once: each call takes its time to fail',
    async (_name, _outcome, _calls, prepare) => {
      const healthy = await prepare();
      database.forget();
      await healthy();
      const { length } = database.calls;
      for (let index = 0; index < length; index += 1) {
        const send = await prepare();
        database.forget();
        let isFirst = true;
        let isTogether = true;
        database.breakWhen((_call, at) => {
          if (at < index) return false;
          if (isFirst) queueMicrotask(() => (isTogether = false));
          isFirst = false;
          // Fail all queries that run together, and let later ones hang: a request that waits for them never
          // gets a response.
          return isTogether || new Promise(() => {});
        });
        await send();
        database.breakWhen(null);
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
    const needed = ['interactions.find', 'interactions.remove', ...authorization];
    expect(calls).toEqual(expect.arrayContaining(needed));
    for (const [index, call] of calls.entries()) {
      const { answer, again } = await attempt(index);
      // The answer for a second click is stored last, so the first click gets its response even if that
      // fails.
      if (call === 'interactionAnswers.save') expect(answer.outcome).toBe('303 code');
      else expectFailure(answer, call);
      expect(await again()).toBe('code');
    }
  });

  it('is reported by ready(), and endpoints without the database still respond', async () => {
    database.breakWhen(() => true);
    await expect(provider.ostiary.ready()).rejects.toThrow();
    for (const path of ['/.well-known/openid-configuration', '/.well-known/jwks.json'])
      expect((await provider.request(path)).status).toBe(200);
    database.breakWhen(null);
    await expect(provider.ostiary.ready()).resolves.toBeUndefined();
  });

  it('for signing keys only has no effect: the last ones stay in use', async () => {
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
