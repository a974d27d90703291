import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import { storageWith } from '../support/fragile-storage.ts';
import { pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const many = <Result>(count: number, work: () => Promise<Result>): Promise<Result>[] =>
  Array.from({ length: count }, work);

/** A storage that lets something happen just before or after each redemption of a code. */
function around(moment: 'before' | 'after', meanwhile: () => Promise<unknown>): Storage {
  const storage = memoryStorage();
  const redeem: Storage['grants']['redeem'] = async (redemption) => {
    if (moment === 'before') await meanwhile();
    const outcome = await storage.grants.redeem(redemption);
    if (moment === 'after') await meanwhile();
    return outcome;
  };
  return storageWith(storage, 'grants', { redeem });
}

describe('one code, presented many times at once', () => {
  // That it has one winner in each of many rounds is shown with two processes in the lab.
  it.each(['before', 'after'] as const)(
    'leaves no living token when the replay comes just %s the redemption',
    async (moment) => {
      let replay = async (): Promise<unknown> => undefined;
      const provider = await startProvider({ storage: around(moment, () => replay()) });
      const client = await provider.client();
      const code = await provider.code(client);
      const answers: Awaited<ReturnType<typeof provider.exchange>>[] = [];
      replay = async () => {
        replay = async () => undefined;
        answers.push(await provider.exchange(client, code));
      };
      answers.push(await provider.exchange(client, code));
      expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['200 ok', '400 invalid_grant']);
      const winner = answers.find(({ outcome }) => outcome === '200 ok');
      expect(await provider.isAlive(winner?.json().access_token)).toBe(false);
      expect(await provider.redeem(client, code)).toBe('400 invalid_grant');
    },
  );

  it('a thief’s presentations beside the honest one kill nothing', async () => {
    const provider = await startProvider();
    const client = await provider.client();
    const thief = await provider.client();
    for (let round = 0; round < 10; round += 1) {
      const { code, verifier } = await provider.boundCode(client);
      const stolenUri = { redirect_uri: client.redirectUri };
      const [honest, ...stolen] = await Promise.all([
        provider.exchange(client, code, { code_verifier: verifier }),
        ...many(5, () => provider.exchange(thief, code, stolenUri)),
        ...many(4, () => provider.exchange(client, code, { code_verifier: pkce().verifier })),
        ...many(5, () => provider.exchange(client, code, { client_secret: 'guessed' })),
      ]);
      for (const { outcome } of stolen) expect(outcome).not.toBe('200 ok');
      expect(await provider.isAlive(honest.json().access_token)).toBe(true);
    }
  });
});

describe('wrong verifiers', () => {
  it.each([
    [4, '200 ok'],
    [5, '400 invalid_grant'],
    [20, '400 invalid_grant'],
  ] as const)(
    'all count, %i at once: then the right one is, also to the honest client, %s',
    async (guesses, outcome) => {
      const provider = await startProvider();
      const client = await provider.client();
      const { code, verifier } = await provider.boundCode(client);
      const wrong = many(guesses, () => provider.redeem(client, code, { code_verifier: pkce().verifier }));
      for (const refusal of await Promise.all(wrong)) expect(refusal).toBe('400 invalid_grant');
      expect(await provider.redeem(client, code, { code_verifier: verifier })).toBe(outcome);
    },
  );

  it('count even when the last one comes while the right one is on its way', async () => {
    let meanwhile = async (): Promise<unknown> => undefined;
    const provider = await startProvider({ storage: around('before', () => meanwhile()) });
    const client = await provider.client();
    const { code, verifier } = await provider.boundCode(client);
    meanwhile = async () => {
      for (let guess = 0; guess < 5; guess += 1)
        await provider.exchange(client, code, { code_verifier: pkce().verifier });
    };
    expect(await provider.redeem(client, code, { code_verifier: verifier })).toBe('400 invalid_grant');
  });
});
