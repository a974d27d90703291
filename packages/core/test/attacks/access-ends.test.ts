import { memoryStorage } from '@ostiary/testing/memory';
import { afterEach, describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { ana } from '../support/directory.ts';
import { type TestClient, TestProvider } from '../support/provider.ts';
import { appForms, approve, callbackOf, openConsent } from './flow-steps.ts';

/** Something that one party waits for and another lets happen. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

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

describe('access that ends while it is being used', () => {
  /** Ends access in each of these ways, while and after something else happens. */
  const endings: Readonly<Record<string, (provider: TestProvider, client: TestClient) => Promise<unknown>>> =
    {
      'the user removes the app': async (provider, client) => {
        const browser = provider.browser();
        const csrf = appForms((await browser.get('/account/apps')).text).get(client.id) ?? '';
        expect((await browser.post(`/account/apps/${client.id}/revoke`, { csrf })).status).toBe(303);
      },
      'the client is disabled': (provider, client) => provider.ostiary.admin.clients.disable(client.id),
      'the user is ended': (provider) => provider.ostiary.users.end(ana.sub),
    };

  it.each(Object.entries(endings))(
    '%s: an exchange at that moment leaves no living token',
    async (_name, end) => {
      for (let round = 0; round < 10; round += 1) {
        const provider = await start();
        const client = await provider.client();
        const code = await provider.code(client);
        const [answer] = await Promise.all([provider.exchange(client, code), end(provider, client)]);
        const token = tokenOf(answer);
        if (token !== null) expect(await isAlive(provider, token)).toBe(false);
        expect((await provider.exchange(client, code)).status).toBeGreaterThanOrEqual(400);
      }
    },
  );

  it.each(Object.entries(endings))(
    '%s: between the approval and the code, there is no code',
    async (_name, end) => {
      const provider = await start();
      const client = await provider.client();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      const { location } = await approve(browser, page);
      await end(provider, client);
      const answer = await browser.get(location ?? '');
      expect(answer.status).toBeLessThan(500);
      expect(callbackOf(answer, client)?.get('code') ?? null).toBeNull();
    },
  );

  it.each(Object.entries(endings))(
    '%s: while the code is being stored, there is no code',
    async (_name, end) => {
      const storage = memoryStorage();
      let meanwhile = async (): Promise<unknown> => undefined;
      const issue: Storage['grants']['issue'] = async (grant) => {
        await meanwhile();
        return storage.grants.issue(grant);
      };
      const provider = await start({ storage: { ...storage, grants: { ...storage.grants, issue } } });
      const client = await provider.client();
      await provider.authorize(client);
      meanwhile = () => end(provider, client);
      const answer = await provider.browser().get(provider.authorizeUrl(client));
      expect(callbackOf(answer, client)?.get('error')).toBe('access_denied');
      expect(callbackOf(answer, client)?.has('code')).toBe(false);
    },
  );

  it.each(Object.entries(endings))(
    '%s: authorizations at that moment leave no code that works',
    async (_name, end) => {
      for (let round = 0; round < 5; round += 1) {
        const provider = await start();
        const client = await provider.client();
        await provider.authorize(client);
        const attempts = Array.from({ length: 5 }, () =>
          provider.browser().get(provider.authorizeUrl(client)),
        );
        const [answers] = await Promise.all([Promise.all(attempts), end(provider, client)]);
        for (const answer of answers) {
          const code = callbackOf(answer, client)?.get('code');
          if (code) expect((await provider.exchange(client, code)).status).toBeGreaterThanOrEqual(400);
        }
      }
    },
  );

  it('a redirect URI or a scope that the administrator takes away is gone for open pages too', async () => {
    const provider = await start();
    const [old, kept] = ['https://app.example/old', 'https://app.example/kept'];
    for (const changes of [{ redirectUris: [kept] }, { allowedScopes: ['profile' as const] }]) {
      for (const moment of ['open', 'approved'] as const) {
        const client = await provider.client({ redirectUris: [old, kept] });
        const browser = provider.browser();
        const page = await openConsent(provider, browser, client);
        if (moment === 'open') await provider.ostiary.admin.clients.update(client.id, changes);
        const approved = await approve(browser, page);
        if (moment === 'approved') await provider.ostiary.admin.clients.update(client.id, changes);
        const last = approved.location?.startsWith(provider.origin)
          ? await browser.get(approved.location)
          : approved;
        expect(last.status).toBeLessThan(500);
        expect(new URL(last.location ?? 'about:blank').searchParams.has('code')).toBe(false);
        if ('redirectUris' in changes) expect(last.location).toBeNull();
      }
    }
  });
});

describe('an approval that is sent twice', () => {
  it('at once gives one code', async () => {
    const provider = await start();
    for (let round = 0; round < 10; round += 1) {
      const client = await provider.client();
      const browser = provider.browser();
      const page = await openConsent(provider, browser, client);
      const resume = page.path.replace('interaction', 'authorize');
      const cookie = browser.cookieHeader(resume);
      const runs = Array.from({ length: 5 }, async () => {
        await approve(browser, page);
        return browser.get(resume, { cookie });
      });
      const answers = await Promise.all(runs);
      const codes = answers.map((answer) => callbackOf(answer, client)?.get('code')).filter(Boolean);
      expect(codes.length).toBeLessThanOrEqual(1);
      for (const answer of answers) expect(answer.status).toBeLessThan(500);
    }
  });

  it('gives one code when the second is answered after the first has come back', async () => {
    const storage = memoryStorage();
    const [waiting, slow] = [gate(), gate()];
    let calls = 0;
    const remember: Storage['consents']['remember'] = async (consent) => {
      calls += 1;
      if (calls === 2) {
        waiting.open();
        await slow.passed;
      }
      return storage.consents.remember(consent);
    };
    const provider = await start({ storage: { ...storage, consents: { ...storage.consents, remember } } });
    const client = await provider.client();
    const browser = provider.browser();
    const page = await openConsent(provider, browser, client);
    const resume = page.path.replace('interaction', 'authorize');
    const cookie = browser.cookieHeader(resume);
    const first = await approve(browser, page);
    const second = approve(browser, page);
    await waiting.passed;
    expect(callbackOf(await browser.get(first.location ?? ''), client)?.has('code')).toBe(true);
    slow.open();
    expect([(await second).status, (await second).location]).toEqual([400, null]);
    const again = await browser.get(resume, { cookie });
    expect([again.status, again.location]).toEqual([400, null]);
  });

  it('and a refusal at the same time give one answer', async () => {
    const provider = await start();
    const client = await provider.client();
    const browser = provider.browser();
    const page = await openConsent(provider, browser, client);
    const resume = page.path.replace('interaction', 'authorize');
    const cookie = browser.cookieHeader(resume);
    await Promise.all([
      approve(browser, page),
      browser.post(page.url, { csrf: page.csrf, decision: 'deny' }),
    ]);
    const answers = await Promise.all([1, 2, 3].map(() => browser.get(resume, { cookie })));
    expect(answers.filter((answer) => callbackOf(answer, client) !== null).length).toBeLessThanOrEqual(1);
  });
});
