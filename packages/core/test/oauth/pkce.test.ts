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

const outcome = (answer: Answer): string => `${answer.status} ${answer.json().error ?? 'ok'}`;

/** A code that is bound to a challenge, with its verifier. */
async function boundCode(of = client): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = pkce();
  return {
    code: await provider.code(of, { code_challenge: challenge, code_challenge_method: 'S256' }),
    verifier,
  };
}

describe('PKCE', () => {
  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['of 42 characters', 'a'.repeat(42)],
    ['of 129 characters', 'a'.repeat(129)],
    ['with a character outside the alphabet', `${'a'.repeat(42)}+`],
    ['that belongs to another challenge', pkce().verifier],
  ])('refuses a verifier %s with invalid_grant, and the code stays usable', async (_name, code_verifier) => {
    const { code, verifier } = await boundCode();
    const refused = await provider.exchange(client, code, { code_verifier });
    expect(outcome(refused)).toBe('400 invalid_grant');
    expect(refused.json().error_description).toBe('The PKCE check failed.');
    expect(outcome(await provider.exchange(client, code, { code_verifier: verifier }))).toBe('200 ok');
  });

  it('refuses the challenge itself as verifier, and a verifier for a code without challenge', async () => {
    const { verifier, challenge } = pkce();
    const bound = await provider.code(client, { code_challenge: challenge, code_challenge_method: 'S256' });
    expect(outcome(await provider.exchange(client, bound, { code_verifier: challenge }))).toBe(
      '400 invalid_grant',
    );
    const unbound = await provider.code(client);
    expect(outcome(await provider.exchange(client, unbound, { code_verifier: verifier }))).toBe(
      '400 invalid_grant',
    );
    expect(outcome(await provider.exchange(client, unbound))).toBe('200 ok');
  });

  it.each([43, 128])('accepts a verifier of %d characters of the whole alphabet', async (length) => {
    const { createHash } = await import('node:crypto');
    const verifier = 'AZaz09-._~'.repeat(13).slice(0, length);
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    const code = await provider.code(client, { code_challenge, code_challenge_method: 'S256' });
    expect(outcome(await provider.exchange(client, code, { code_verifier: verifier }))).toBe('200 ok');
  });

  it('lets four wrong verifiers pass; the fifth burns the code', async () => {
    for (const [wrong, expected] of [
      [4, '200 ok'],
      [5, '400 invalid_grant'],
    ] as const) {
      const { code, verifier } = await boundCode();
      for (let count = 0; count < wrong; count += 1) {
        expect(outcome(await provider.exchange(client, code, { code_verifier: pkce().verifier }))).toBe(
          '400 invalid_grant',
        );
      }
      expect(outcome(await provider.exchange(client, code, { code_verifier: verifier }))).toBe(expected);
    }
  });

  it('is not burnt by verifiers of somebody who is not the client', async () => {
    const other = await provider.client();
    const { code, verifier } = await boundCode();
    for (let count = 0; count < 6; count += 1) {
      await provider.exchange(other, code, {
        code_verifier: pkce().verifier,
        redirect_uri: client.redirectUri,
      });
      await provider.exchange(client, code, { code_verifier: pkce().verifier, client_secret: 'wrong' });
    }
    expect(outcome(await provider.exchange(client, code, { code_verifier: verifier }))).toBe('200 ok');
  });

  describe('at the authorization endpoint', () => {
    const { challenge } = pkce();
    it.each([
      [{ code_challenge: challenge, code_challenge_method: 'plain' }],
      [{ code_challenge: challenge, code_challenge_method: 's256' }],
      [{ code_challenge: challenge }],
      [{ code_challenge_method: 'S256' }],
      [{ code_challenge: challenge.slice(1), code_challenge_method: 'S256' }],
      [{ code_challenge: `${challenge}=`, code_challenge_method: 'S256' }],
      [{ code_challenge: `${challenge.slice(1)}+`, code_challenge_method: 'S256' }],
    ])('refuses %j with invalid_request', async (parameters) => {
      expect((await provider.authorize(client, parameters)).get('error')).toBe('invalid_request');
    });

    it('is required of public clients and where the client asks for it, and of nobody else', async () => {
      for (const settings of [{ public: true }, { requirePkce: true }]) {
        const strict = await provider.client(settings);
        expect((await provider.authorize(strict)).get('error')).toBe('invalid_request');
        const { code, verifier } = await boundCode(strict);
        expect(outcome(await provider.exchange(strict, code, { code_verifier: verifier }))).toBe('200 ok');
      }
      expect((await provider.authorize(client)).get('error')).toBeNull();
    });
  });
});
