import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { pkce, TestProvider } from '../support/provider.ts';

const parallel = 20;
const rounds = 50;

let running: TestProvider[] = [];
afterEach(async () => {
  await Promise.all(running.map((provider) => provider.stop()));
  running = [];
});

async function start(options: Parameters<typeof TestProvider.start>[0] = {}): Promise<TestProvider> {
  const limits = { authorizeStarts: 1_000_000, failedClientAuthentications: 1_000_000 };
  const provider = await TestProvider.start({ limits, ...options });
  running.push(provider);
  return provider;
}

const tokenOf = (answer: Answer): string | null => {
  const token = answer.json().access_token;
  return typeof token === 'string' ? token : null;
};

async function isAlive(provider: TestProvider, token: string): Promise<boolean> {
  const { status } = await provider.userinfo(token);
  expect([200, 401]).toContain(status);
  return status === 200;
}

describe('one code, presented many times at once', () => {
  it(`has one winner in each of ${rounds} rounds, and the replays kill its token and nothing else`, async () => {
    const provider = await start();
    const client = await provider.client();
    const bystander = await provider.token(client);
    for (let round = 0; round < rounds; round += 1) {
      const code = await provider.code(client);
      const answers = await Promise.all(
        Array.from({ length: parallel }, () => provider.exchange(client, code)),
      );
      const tokens = answers.map(tokenOf).filter((token) => token !== null);
      expect(tokens).toHaveLength(1);
      for (const answer of answers)
        if (tokenOf(answer) === null) expect(answer.json().error).toBe('invalid_grant');
      expect(await isAlive(provider, tokens[0] ?? '')).toBe(false);
    }
    expect(await isAlive(provider, bystander)).toBe(true);
    // Remembered consent survives: the user is not asked again.
    expect((await provider.authorize(client, { prompt: 'none' })).has('code')).toBe(true);
  });

  /** A storage whose `redeem` lets a second presentation in before or after it has happened. */
  function storageWithReplay(moment: 'before' | 'after', replay: () => Promise<unknown>): Storage {
    const storage = memoryStorage();
    let armed = true;
    const redeem: Storage['grants']['redeem'] = async (redemption) => {
      const isFirst = armed;
      armed = false;
      if (isFirst && moment === 'before') await replay();
      const outcome = await storage.grants.redeem(redemption);
      if (isFirst && moment === 'after') await replay();
      return outcome;
    };
    return { ...storage, grants: { ...storage.grants, redeem } };
  }

  it.each(['before', 'after'] as const)(
    'leaves no living token when the replay comes just %s the redemption',
    async (moment) => {
      const replays: Answer[] = [];
      let present = async (): Promise<Answer> => {
        throw new Error('not yet');
      };
      const provider = await start({
        storage: storageWithReplay(moment, async () => replays.push(await present())),
      });
      const client = await provider.client();
      const code = await provider.code(client);
      present = () => provider.exchange(client, code);
      const first = await provider.exchange(client, code);
      expect(replays).toHaveLength(1);
      const tokens = [first, ...replays].map(tokenOf).filter((token) => token !== null);
      expect(tokens).toHaveLength(1);
      expect(await isAlive(provider, tokens[0] ?? '')).toBe(false);
      expect(tokenOf(await provider.exchange(client, code))).toBeNull();
    },
  );

  it('a thief’s presentations beside the honest one kill nothing', async () => {
    const provider = await start();
    const client = await provider.client();
    const thief = await provider.client();
    for (let round = 0; round < 10; round += 1) {
      const { verifier, challenge } = pkce();
      const code = await provider.code(client, { code_challenge: challenge, code_challenge_method: 'S256' });
      const [honest, ...stolen] = await Promise.all([
        provider.exchange(client, code, { code_verifier: verifier }),
        ...Array.from({ length: 5 }, () =>
          provider.exchange(thief, code, { redirect_uri: client.redirectUri }),
        ),
        ...Array.from({ length: 4 }, () =>
          provider.exchange(client, code, { code_verifier: pkce().verifier }),
        ),
        ...Array.from({ length: 5 }, () => provider.exchange(client, code, { client_secret: 'guessed' })),
      ]);
      for (const answer of stolen) expect(tokenOf(answer)).toBeNull();
      expect(await isAlive(provider, tokenOf(honest) ?? '')).toBe(true);
    }
  });
});

describe('wrong verifiers at once', () => {
  it.each([
    [4, true],
    [5, false],
    [20, false],
  ] as const)('%i of them all count', async (guesses, survives) => {
    const provider = await start();
    const client = await provider.client();
    const { verifier, challenge } = pkce();
    const code = await provider.code(client, { code_challenge: challenge, code_challenge_method: 'S256' });
    const wrong = Array.from({ length: guesses }, () =>
      provider.exchange(client, code, { code_verifier: pkce().verifier }),
    );
    for (const answer of await Promise.all(wrong)) expect(answer.json().error).toBe('invalid_grant');
    const right = await provider.exchange(client, code, { code_verifier: verifier });
    expect(right.status).toBe(survives ? 200 : 400);
  });

  it('count even when the last one comes while the right one is on its way', async () => {
    const storage = memoryStorage();
    let meanwhile = async (): Promise<void> => {};
    const redeem: Storage['grants']['redeem'] = async (redemption) => {
      await meanwhile();
      return storage.grants.redeem(redemption);
    };
    const provider = await start({ storage: { ...storage, grants: { ...storage.grants, redeem } } });
    const client = await provider.client();
    const { verifier, challenge } = pkce();
    const code = await provider.code(client, { code_challenge: challenge, code_challenge_method: 'S256' });
    meanwhile = async () => {
      for (let guess = 0; guess < 5; guess += 1)
        await provider.exchange(client, code, { code_verifier: pkce().verifier });
    };
    expect((await provider.exchange(client, code, { code_verifier: verifier })).json().error).toBe(
      'invalid_grant',
    );
  });
});
