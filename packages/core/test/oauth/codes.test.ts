import { describe, expect, it } from 'vitest';
import { pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const minutes = 60_000;
const elsewhere = { redirect_uri: 'https://other.example/' };

/** A code that was exchanged, and its token. */
async function exchanged(): Promise<{ code: string; token: unknown }> {
  const code = await provider.code(client);
  return { code, token: (await provider.exchange(client, code)).json().access_token };
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

  it('lives on after refusals that are not its fault', async () => {
    const code = await provider.code(client);
    for (const [changes, refusal] of [
      [{ grant_type: 'password' }, '400 unsupported_grant_type'],
      [{ client_secret: 'wrong' }, '401 invalid_client'],
      [elsewhere, '400 redirect_uri_mismatch'],
      [{}, '200 ok'],
    ] as const)
      expect(await provider.redeem(client, code, changes)).toBe(refusal);
  });

  it('is not spent by another client, which knows its verifier', async () => {
    const thieves = [await provider.client({ requirePkce: true }), await provider.client({ public: true })];
    const { code, verifier } = await provider.boundCode(client);
    const stolen = { code_verifier: verifier, redirect_uri: client.redirectUri };
    for (const thief of thieves) expect(await provider.redeem(thief, code, stolen)).toBe('400 invalid_grant');
    expect(await provider.redeem(client, code, { code_verifier: verifier })).toBe('200 ok');
  });

  it('is worth nothing to a client that signs in as another', async () => {
    const [thief, app] = [await provider.client(), await provider.client({ public: true })];
    const code = await provider.code(client);
    const mixed = { client_id: client.id, client_secret: thief.secret };
    expect(await provider.redeem(thief, code, mixed)).toBe('401 invalid_client');
    expect(await provider.redeem(app, code, { client_id: client.id })).toBe('401 invalid_client');
  });
});

describe('a second presentation of a code', () => {
  it('is invalid_grant and ends the token of that code, and no other', async () => {
    const first = await exchanged();
    const sibling = await exchanged();
    expect(await provider.isAlive(first.token)).toBe(true);
    expect(await provider.redeem(client, first.code)).toBe('400 invalid_grant');
    expect((await provider.userinfo(String(first.token))).outcome).toBe('401 invalid_token');
    // Neither a sibling of the same user and client nor the remembered consent is touched.
    expect(await provider.isAlive(sibling.token)).toBe(true);
    expect(await provider.attempt(client, { prompt: 'none' })).toBe('code');
  });

  it('works that way after the ten minutes too, while the token lives', async () => {
    const { code, token } = await exchanged();
    provider.clock.advance(59 * minutes);
    expect(await provider.isAlive(token)).toBe(true);
    expect(await provider.redeem(client, code)).toBe('400 invalid_grant');
    expect(await provider.isAlive(token)).toBe(false);
  });

  it('with a redirect URI that is wrong counts as one', async () => {
    const { code, token } = await exchanged();
    expect(await provider.redeem(client, code, elsewhere)).toBe('400 invalid_grant');
    expect(await provider.isAlive(token)).toBe(false);
  });

  it('by another client, without authentication or with a wrong secret revokes nothing', async () => {
    const other = await provider.client();
    const { code, token } = await exchanged();
    expect(await provider.redeem(other, code)).toBe('400 invalid_grant');
    for (const client_secret of ['wrong', undefined])
      expect(await provider.redeem(client, code, { client_secret })).toBe('401 invalid_client');
    expect(await provider.isAlive(token)).toBe(true);
  });

  it('with a wrong, short or missing verifier revokes nothing; with the right one it does', async () => {
    const { code, verifier } = await provider.boundCode(client);
    const token = (await provider.exchange(client, code, { code_verifier: verifier })).json().access_token;
    for (const code_verifier of [pkce().verifier, 'short', undefined])
      expect(await provider.redeem(client, code, { code_verifier })).toBe('400 invalid_grant');
    expect(await provider.isAlive(token)).toBe(true);
    expect(await provider.redeem(client, code, { code_verifier: verifier })).toBe('400 invalid_grant');
    expect(await provider.isAlive(token)).toBe(false);
  });
});
