import { memoryStorage } from '@ostiary/testing/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { ana, ben } from '../support/directory.ts';
import { pkce, type TestClient, TestProvider } from '../support/provider.ts';
import { openConsent } from './flow-steps.ts';

/** Everything of an answer that its caller sees, except for the time and the request id. */
function seen(answer: Answer): object {
  const { date: _, 'x-request-id': __, ...headers } = Object.fromEntries(answer.headers);
  return {
    status: answer.status,
    headers,
    body: answer.text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'REQUEST'),
  };
}

describe('answers that must not tell one secret from another', () => {
  let provider: TestProvider;
  let client: TestClient;
  let publicClient: TestClient;
  let disabled: TestClient;
  beforeAll(async () => {
    provider = await TestProvider.start({ limits: { failedClientAuthentications: 1_000_000 } });
    client = await provider.client();
    publicClient = await provider.client({ public: true });
    disabled = await provider.client();
    await provider.ostiary.admin.clients.disable(disabled.id);
  });
  afterAll(() => provider.stop());

  it('an unknown client, a wrong secret, a disabled client and a public one with a secret are alike', async () => {
    const code = await provider.code(client);
    const attempts = [
      { client_id: client.id, client_secret: 'wrong' },
      { client_id: client.id, client_secret: `${client.secret?.slice(0, -1)}` },
      { client_id: 'stranger', client_secret: 'wrong' },
      { client_id: 'stranger', client_secret: client.secret },
      { client_id: '__proto__', client_secret: 'wrong' },
      { client_id: 'a b\u00e9', client_secret: 'wrong' },
      { client_id: publicClient.id, client_secret: 'wrong' },
      { client_id: disabled.id, client_secret: disabled.secret },
      { client_id: disabled.id, client_secret: undefined, code_verifier: pkce().verifier },
      { client_id: 'stranger', client_secret: undefined, code_verifier: pkce().verifier },
    ];
    const bodies = await Promise.all(attempts.map((attempt) => provider.exchange(client, code, attempt)));
    expect(bodies[0]?.status).toBe(401);
    for (const answer of bodies) expect(seen(answer)).toEqual(seen(bodies[0] as Answer));
    const basics = await Promise.all(
      attempts.slice(0, 4).map(({ client_id: id, client_secret: secret }) => {
        const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
        const form = new URLSearchParams({
          grant_type: 'authorization_code',
          code,
          redirect_uri: client.redirectUri,
        });
        return provider.call('/v1/oauth/token', form, { authorization });
      }),
    );
    expect(basics[0]?.headers.get('www-authenticate')).toMatch(/^Basic /);
    for (const answer of basics) expect(seen(answer)).toEqual(seen(basics[0] as Answer));
  });

  it('an unknown, an expired, a foreign, a revoked, a burnt and a used code are alike', async () => {
    const own = await TestProvider.start({ limits: { failedClientAuthentications: 1_000_000 } });
    const [mine, other] = [await own.client(), await own.client()];
    const bound = async () => {
      const { challenge } = pkce();
      return own.code(mine, { code_challenge: challenge, code_challenge_method: 'S256' });
    };
    const expired = await own.code(mine);
    own.clock.advance(600_000);
    const used = await own.code(mine);
    await own.exchange(mine, used);
    const revoked = await own.code(mine, {}, own.browser(ben.sub));
    await own.ostiary.users.end(ben.sub);
    const codes = ['unknown', expired, used, revoked, await own.code(other), used];
    const answers = await Promise.all(codes.map((code) => own.exchange(mine, code)));
    expect([answers[0]?.status, answers[0]?.json().error]).toEqual([400, 'invalid_grant']);
    for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0] as Answer));
    const verifiers = [pkce().verifier, 'short', 'é', pkce().verifier];
    const wrong = await Promise.all(
      verifiers.map(async (verifier) => own.exchange(mine, await bound(), { code_verifier: verifier })),
    );
    for (const answer of wrong) expect(seen(answer)).toEqual(seen(wrong[0] as Answer));
    await own.stop();
  });

  it('an unknown, a revoked, a malformed and an ended token are alike', async () => {
    const own = await TestProvider.start();
    const to = await own.client();
    const revoked = await own.token(to);
    await own.call('/v1/oauth/revoke', { token: revoked });
    const ended = await own.token(to, 'openid', own.browser(ben.sub));
    await own.ostiary.users.end(ben.sub);
    const orphan = await own.token(to);
    own.host.people.delete(ana.sub);
    const tokens = [
      `svc_at_${'A'.repeat(43)}`,
      revoked,
      ended,
      orphan,
      'malformed',
      `${revoked}x`,
      revoked.toUpperCase(),
    ];
    const answers = await Promise.all(tokens.map((token) => own.userinfo(token)));
    expect(answers[0]?.status).toBe(401);
    for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0] as Answer));
    const revocations = await Promise.all(tokens.map((token) => own.call('/v1/oauth/revoke', { token })));
    for (const answer of revocations) expect(seen(answer)).toEqual(seen(revocations[0] as Answer));
    await own.stop();
  });

  it('an unknown interaction and somebody else’s are alike', async () => {
    const page = await openConsent(provider, provider.browser(ben.sub), client);
    const browser = provider.browser();
    for (const path of [page.path, page.path.replace('interaction', 'authorize')]) {
      const foreign = await browser.get(path);
      const unknown = await browser.get(path.replace(page.id, 'A'.repeat(43)));
      expect(foreign.status).toBe(400);
      expect(seen(foreign)).toEqual(seen(unknown));
    }
  });
});

describe('what a caller learns when something breaks', () => {
  const detail = 'SELECT secret FROM clients; password=hunter2';

  /** A storage that fails in every call of one of its stores, once it is armed. */
  function breaking(store: keyof Storage, error: Error): { storage: Storage; arm(): void } {
    const storage = memoryStorage();
    let armed = false;
    const broken = new Proxy(storage[store] as object, {
      get: (target, name) =>
        armed
          ? async () => {
              throw error;
            }
          : Reflect.get(target, name),
    });
    return {
      storage: { ...storage, [store]: broken },
      arm: () => {
        armed = true;
      },
    };
  }

  const failures = {
    'the database is away': [Object.assign(new Error(detail), { code: 'STORAGE_UNAVAILABLE' }), 503],
    'there is a defect': [new TypeError(detail), 500],
  } as const;

  describe.each(Object.entries(failures))('%s', (_name, [error, status]) => {
    it.each(['clients', 'grants', 'consents', 'interactions'] as const)(
      'in %s: nothing but a request id',
      async (store) => {
        const { storage, arm } = breaking(store, error);
        const provider = await TestProvider.start({ storage });
        const client = await provider.client();
        const token = await provider.token(client);
        const code = await provider.code(client);
        const browser = provider.browser();
        const page = await openConsent(provider, browser, client, { prompt: 'consent' });
        arm();
        const answers = [
          await provider.exchange(client, code),
          await provider.userinfo(token),
          await provider.userinfo(token, { origin: 'https://app.example' }),
          await provider.call('/v1/oauth/revoke', { token }),
          await browser.get(provider.authorizeUrl(client)),
          await browser.get(provider.authorizeUrl(client), { accept: 'application/json' }),
          await browser.get(provider.authorizeUrl(client, { prompt: 'consent' })),
          await browser.get(page.url),
          await browser.post(page.url, { csrf: page.csrf, decision: 'approve' }),
          await browser.get(page.path.replace('interaction', 'authorize')),
          await browser.get('/account/apps'),
        ];
        expect(answers.some((answer) => answer.status === status)).toBe(true);
        for (const answer of answers) {
          expect([200, 303, status]).toContain(answer.status);
          const text = answer.text + [...answer.headers].join('\n');
          expect(text).not.toMatch(/hunter2|SELECT|TypeError|STORAGE_|node:|\.ts\b|\n\s+at /);
          if (answer.status !== status) continue;
          expect(answer.location).toBeNull();
          expect(answer.text).toMatch(status === 503 ? /temporarily_unavailable/ : /server_error/);
          expect(answer.headers.has('retry-after')).toBe(status === 503);
          expect(answer.headers.get('cache-control')).toBe('no-store');
          // A cookie may be taken away, not given.
          for (const cookie of answer.headers.getSetCookie())
            expect(cookie).toContain('expires=Thu, 01 Jan 1970');
        }
        if (store === 'grants') expect(answers[3]?.status).toBe(status);
        await provider.stop();
      },
    );
  });
});
