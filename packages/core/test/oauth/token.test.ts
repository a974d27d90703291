import { describe, expect, it } from 'vitest';
import { pkce, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const minutes = 60_000;
const elsewhere = { redirect_uri: 'https://other.example/' };

/** Exchanges a code, and returns the access token. */
async function exchanged() {
  const { code, verifier } = await provider.boundCode(client);
  const present = (changes: Record<string, unknown> = {}, by = client) =>
    provider.redeem(by, code, { code_verifier: verifier, ...changes });
  const answer = await provider.exchange(client, code, { code_verifier: verifier });
  const { access_token: token } = answer.json();
  return { present, isAlive: () => provider.isAlive(token) };
}

describe('an authorization code', () => {
  it('is 256 random bits, sent with state and issuer and nothing else', async () => {
    const callback = await provider.authorize(client);
    expect([...callback.keys()].toSorted()).toEqual(['code', 'iss', 'state']);
    expect(callback.get('code')).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(callback.get('code')).not.toBe(await provider.code(client));
  });

  it.each([
    [10 * minutes - 1, '200 ok'],
    [10 * minutes, '400 invalid_grant'],
    [30 * 24 * 60 * minutes, '400 invalid_grant'],
  ])('is worth after %d ms: %s', async (ms, expected) => {
    const code = await provider.code(client);
    provider.clock.advance(ms);
    expect(await provider.redeem(client, code)).toBe(expected);
  });

  it('stays valid after unrelated refusals, and after requests of others who know its verifier', async () => {
    const hardened = await provider.client({ requirePkce: true });
    const [thief, app] = [await provider.client(), await provider.client({ public: true })];
    const { code, verifier } = await provider.boundCode(client);
    const stolen = { code_verifier: verifier, redirect_uri: client.redirectUri };
    for (const [by, changes, outcome] of [
      [client, { grant_type: 'password' }, '400 unsupported_grant_type'],
      [client, { client_secret: 'wrong' }, '401 invalid_client'],
      [client, elsewhere, '400 redirect_uri_mismatch'],
      [hardened, {}, '400 invalid_grant'],
      [app, {}, '400 invalid_grant'],
      [thief, { client_id: client.id }, '401 invalid_client'],
      [client, {}, '200 ok'],
    ] as const)
      expect(await provider.redeem(by, code, { ...stolen, ...changes })).toBe(outcome);
  });
});

describe('a second presentation of a code', () => {
  it.each([
    ['at once', 0, {}],
    ['after the ten minutes, while the token lives', 59 * minutes, {}],
    ['with a redirect URI that is wrong', 0, elsewhere],
  ])('%s is invalid_grant and ends the token of that code, and no other', async (_name, ms, changes) => {
    const [{ present, isAlive }, sibling] = [await exchanged(), await exchanged()];
    provider.clock.advance(ms);
    expect(await isAlive()).toBe(true);
    expect(await present(changes)).toBe('400 invalid_grant');
    expect([await isAlive(), await sibling.isAlive()]).toEqual([false, true]);
    // The remembered consent is not affected either.
    expect(await provider.attempt(client, { prompt: 'none' })).toBe('code');
  });

  it('by another client, or without right authentication and verifier, revokes nothing', async () => {
    const { present, isAlive } = await exchanged();
    expect(await present({}, await provider.client())).toBe('400 invalid_grant');
    expect(await present({ client_secret: 'wrong' })).toBe('401 invalid_client');
    for (const code_verifier of [pkce().verifier, 'short', undefined])
      expect(await present({ code_verifier })).toBe('400 invalid_grant');
    expect(await isAlive()).toBe(true);
    expect(await present()).toBe('400 invalid_grant');
    expect(await isAlive()).toBe(false);
  });
});

describe('the token endpoint', () => {
  /** Returns token requests of a client, each with one error fewer than the previous request. */
  const requestsOf = ({ id, secret, redirectUri }: TestClient) =>
    [
      ['a malformed header', '401 invalid_client', {}, { authorization: 'Basic %%%' }],
      ['no client', '400 invalid_request', {}, {}],
      ['no grant type', '400 invalid_request', { client_id: 'nobody' }, {}],
      ['an unknown grant type', '400 unsupported_grant_type', { grant_type: 'password' }, {}],
      ['no code', '400 invalid_request', { grant_type: 'authorization_code' }, {}],
      ['no redirect URI', '400 invalid_request', { code: 'x' }, {}],
      ['an unknown client', '401 invalid_client', { redirect_uri: redirectUri }, {}],
      ['a wrong secret', '401 invalid_client', { client_id: id, client_secret: 'wrong' }, {}],
      ['an unknown code', '400 invalid_grant', { client_secret: secret }, {}],
    ] as const;

  it.each([
    ['answers the first fault of a request', 60, null],
    ['answers no fault to an address that has failed too often', 1, '429 slow_down'],
  ])('%s', async (_name, failedClientAuthentications, refusal) => {
    const own = await startProvider({ limits: { failedClientAuthentications } });
    await own.call('/v1/oauth/token', {}, { authorization: 'Basic %%%' });
    let body = {};
    for (const [fault, outcome, changes, headers] of requestsOf(await own.client())) {
      body = { ...body, ...changes };
      const answer = await own.call('/v1/oauth/token', body, headers);
      expect([fault, answer.outcome]).toEqual([fault, refusal ?? outcome]);
    }
  });
});
