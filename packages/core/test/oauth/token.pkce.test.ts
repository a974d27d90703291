import { memoryStorage } from '@ostiary/testing/memory';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import { storageWith } from '../support/fragile-storage.ts';
import { pkce, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const hardened = await provider.client({ requirePkce: true });
const app = await provider.client({ public: true, redirectUris: ['https://spa.example/callback'] });

/** Exchanges a code, and checks that a refused exchange issues no token. */
async function redeem(code: string, changes: Record<string, unknown>, by: TestClient = client) {
  const { outcome, text } = await provider.exchange(by, code, changes);
  if (outcome !== '200 ok') expect(text).not.toContain('svc_at_');
  return outcome;
}

it('a code without a challenge is refused with a verifier but stays valid, and its ID token has the nonce of the request', async () => {
  const code = await provider.code(client, { nonce: 'of-the-victim' });
  expect(await redeem(code, { code_verifier: pkce().verifier })).toBe('400 invalid_grant');
  const { id_token: idToken } = (await provider.exchange(client, code)).json();
  // The nonce lets a client without PKCE detect another user's code.
  expect(decodeJwt(String(idToken)).nonce).toBe('of-the-victim');
});

describe('a bound code', () => {
  it.each<readonly [string, (pair: { verifier: string; challenge: string }) => unknown]>([
    ['no', () => undefined],
    ['an empty', () => ''],
    ['a short', ({ verifier }) => verifier.slice(0, 42)],
    ['a long', () => 'a'.repeat(129)],
    ['a longer', ({ verifier }) => `${verifier}A`],
    ['a verifier with a character outside the alphabet as', () => `${'a'.repeat(42)}+`],
    ['another code’s', async () => (await provider.boundCode(client)).verifier],
    ['its challenge as', ({ challenge }) => challenge],
  ])('does not go with %s verifier, and stays usable', async (_name, wrong) => {
    const pair = await provider.boundCode(client);
    const code_verifier = await wrong(pair);
    const refused = await provider.exchange(client, pair.code, { code_verifier });
    expect(refused.outcome).toBe('400 invalid_grant');
    expect(refused.json().error_description).toBe('The PKCE check failed.');
    const plain = { code_verifier, code_challenge_method: 'plain', code_challenge: code_verifier };
    expect(await redeem(pair.code, { ...plain, client_secret: undefined })).toBe('400 invalid_grant');
    expect(await redeem(pair.code, { code_verifier: pair.verifier })).toBe('200 ok');
  });

  it.each([43, 128])('goes with a verifier of %d characters of the whole alphabet', async (length) => {
    const { verifier, bound } = pkce('AZaz09-._~'.repeat(13).slice(0, length));
    const code = await provider.code(client, bound);
    expect(await redeem(code, { code_verifier: verifier })).toBe('200 ok');
  });

  // The contract of storages covers how wrong verifiers are counted.
  it('is burnt by the fifth wrong verifier, also while the right one is on its way', async () => {
    const storage = memoryStorage();
    let meanwhile = async (): Promise<unknown> => undefined;
    const redeem: Storage['grants']['redeem'] = async (redemption) => {
      await meanwhile();
      return storage.grants.redeem(redemption);
    };
    const slow = await startProvider({ storage: storageWith(storage, 'grants', { redeem }) });
    const by = await slow.client();
    const { code, verifier } = await slow.boundCode(by);
    meanwhile = async () => {
      for (let guess = 0; guess < 5; guess += 1)
        await slow.exchange(by, code, { code_verifier: pkce().verifier });
    };
    expect(await slow.redeem(by, code, { code_verifier: verifier })).toBe('400 invalid_grant');
  });

  it('is not revoked by verifiers from another client', async () => {
    const { code, verifier } = await provider.boundCode(client);
    for (let count = 0; count < 6; count += 1) {
      const guess = { code_verifier: pkce().verifier };
      await redeem(code, { ...guess, redirect_uri: client.redirectUri }, hardened);
      await redeem(code, { ...guess, client_secret: 'wrong' });
    }
    expect(await redeem(code, { code_verifier: verifier })).toBe('200 ok');
  });
});

it('a public client never gets in with a secret, not even an inherited one', async () => {
  for (const client_secret of ['undefined', 'null', '[object Object]', '__proto__']) {
    const { code, verifier: code_verifier } = await provider.boundCode(app);
    expect(await redeem(code, { code_verifier, client_secret }, app)).toBe('401 invalid_client');
  }
});
