import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { generousLimits, pkce, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;
let client: TestClient;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
  client = await provider.client();
});
afterAll(() => provider.stop());

const minutes = 60_000;

const outcome = (answer: Answer): string => `${answer.status} ${answer.json().error ?? 'ok'}`;
const alive = async (token: unknown): Promise<boolean> =>
  (await provider.userinfo(String(token))).status === 200;

/** A code that is bound to a challenge, with its verifier. */
async function boundCode(of = client): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = pkce();
  return {
    code: await provider.code(of, { code_challenge: challenge, code_challenge_method: 'S256' }),
    verifier,
  };
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
    expect(outcome(await provider.exchange(client, code))).toBe(expected);
  });

  it('of a user whom the host does not know any more is refused, and the log says why', async () => {
    const other = await TestProvider.start();
    const mistaken = await other.client();
    const code = await other.code(mistaken);
    other.host.people.clear();
    expect(outcome(await other.exchange(mistaken, code))).toBe('400 invalid_grant');
    expect(other.logged).toEqual([
      {
        level: 'warn',
        message: 'a code was refused: users.find does not know its sub',
        fields: { client: mistaken.id },
      },
    ]);
    await other.stop();
  });

  it('lives on after refusals that are not its fault', async () => {
    const code = await provider.code(client);
    expect(outcome(await provider.exchange(client, code, { grant_type: 'password' }))).toBe(
      '400 unsupported_grant_type',
    );
    expect(outcome(await provider.exchange(client, code, { client_secret: 'wrong' }))).toBe(
      '401 invalid_client',
    );
    expect(outcome(await provider.exchange(client, code, { redirect_uri: 'https://other.example/' }))).toBe(
      '400 redirect_uri_mismatch',
    );
    expect(outcome(await provider.exchange(client, code))).toBe('200 ok');
  });

  it.each(['unknown', 'ä', ' ', 'x'.repeat(10_000)])(
    'that was never issued (%#) is invalid_grant',
    async (code) => {
      expect(outcome(await provider.exchange(client, code))).toBe('400 invalid_grant');
    },
  );
});

describe('a second presentation of a code', () => {
  it('is invalid_grant and ends the token of that code, and no other', async () => {
    const browser = provider.browser();
    const [first, second, other] = await Promise.all([
      provider.code(client, {}, browser),
      provider.code(client, {}, provider.browser()),
      provider.code(await provider.client()),
    ]);
    const token = (await provider.exchange(client, first)).json().access_token;
    const sibling = (await provider.exchange(client, second)).json().access_token;
    expect(await alive(token)).toBe(true);
    expect(outcome(await provider.exchange(client, first))).toBe('400 invalid_grant');
    expect(await alive(token)).toBe(false);
    expect((await provider.userinfo(String(token))).json().error).toBe('invalid_token');
    // Neither a sibling of the same user and client, nor an unused code, nor the remembered consent is
    // touched.
    expect(await alive(sibling)).toBe(true);
    expect(other).toBeTruthy();
    const again = await browser.get(provider.authorizeUrl(client, { prompt: 'none' }));
    expect(new URL(again.location ?? '').searchParams.has('code')).toBe(true);
  });

  it('works that way after the ten minutes too, while the token lives', async () => {
    const code = await provider.code(client);
    const token = (await provider.exchange(client, code)).json().access_token;
    provider.clock.advance(59 * minutes);
    expect(await alive(token)).toBe(true);
    expect(outcome(await provider.exchange(client, code))).toBe('400 invalid_grant');
    expect(await alive(token)).toBe(false);
  });

  it('with a redirect URI that is wrong counts as one', async () => {
    const code = await provider.code(client);
    const token = (await provider.exchange(client, code)).json().access_token;
    expect(outcome(await provider.exchange(client, code, { redirect_uri: 'https://other.example/' }))).toBe(
      '400 invalid_grant',
    );
    expect(await alive(token)).toBe(false);
  });

  it('by another client, without authentication or with a wrong secret revokes nothing', async () => {
    const other = await provider.client();
    const code = await provider.code(client);
    const token = (await provider.exchange(client, code)).json().access_token;
    expect(outcome(await provider.exchange(other, code, { redirect_uri: client.redirectUri }))).toBe(
      '400 invalid_grant',
    );
    expect(outcome(await provider.exchange(client, code, { client_secret: 'wrong' }))).toBe(
      '401 invalid_client',
    );
    expect(outcome(await provider.exchange(client, code, { client_secret: undefined }))).toBe(
      '401 invalid_client',
    );
    expect(await alive(token)).toBe(true);
  });

  it('with a wrong, short or missing verifier revokes nothing; with the right one it does', async () => {
    const { code, verifier } = await boundCode();
    const token = (await provider.exchange(client, code, { code_verifier: verifier })).json().access_token;
    for (const code_verifier of [pkce().verifier, 'short', undefined]) {
      expect(outcome(await provider.exchange(client, code, { code_verifier }))).toBe('400 invalid_grant');
    }
    expect(await alive(token)).toBe(true);
    expect(outcome(await provider.exchange(client, code, { code_verifier: verifier }))).toBe(
      '400 invalid_grant',
    );
    expect(await alive(token)).toBe(false);
  });
});

describe('an unused code in the wrong hands', () => {
  it('is not spent by another client', async () => {
    const other = await provider.client();
    const code = await provider.code(client);
    expect(outcome(await provider.exchange(other, code, { redirect_uri: client.redirectUri }))).toBe(
      '400 invalid_grant',
    );
    expect(outcome(await provider.exchange(client, code))).toBe('200 ok');
  });

  it('does not tell another client whether it exists', async () => {
    const other = await provider.client();
    const real = await provider.exchange(other, await provider.code(client), {
      redirect_uri: client.redirectUri,
    });
    const invented = await provider.exchange(other, 'invented', { redirect_uri: client.redirectUri });
    expect([real.status, real.text]).toEqual([invented.status, invented.text]);
  });
});
