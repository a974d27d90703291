import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { storageWith } from '../support/fragile-storage.ts';
import type { TestClient, TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const many = <Result>(count: number, work: () => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, work));

/** The ways in which access ends. */
const endings: Readonly<Record<string, (provider: TestProvider, client: TestClient) => Promise<unknown>>> = {
  'the user removes the app': (provider, client) => provider.removeApp(client),
  'the client is disabled': (provider, client) => provider.ostiary.admin.clients.disable(client.id),
  'the user is ended': (provider) => provider.ostiary.users.end(ana.sub),
};

describe.each(Object.entries(endings))('access that ends while it is being used: %s', (_name, end) => {
  async function authorized(storage?: Storage) {
    const provider = await startProvider(storage && { storage });
    const client = await provider.client();
    await provider.authorize(client);
    return { provider, client, end: () => end(provider, client) };
  }

  it('exchanges and authorizations at that moment leave no living token and no code that works', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { provider, client, end } = await authorized();
      const code = await provider.code(client);
      const authorizations = many(3, () => provider.browser().get(provider.authorizeUrl(client)));
      const [answer, others] = await Promise.all([provider.exchange(client, code), authorizations, end()]);
      if (answer.outcome === '200 ok') expect(await provider.isAlive(answer.json().access_token)).toBe(false);
      for (const given of [code, ...others.map(({ callback }) => callback.get('code'))])
        if (given !== null) expect(await provider.redeem(client, given)).toMatch(/^40/);
    }
  });

  it('while the code is being stored, there is no code', async () => {
    const storage = memoryStorage();
    let meanwhile = async (): Promise<unknown> => undefined;
    const issue: Storage['grants']['issue'] = async (grant) => {
      await meanwhile();
      return storage.grants.issue(grant);
    };
    const { provider, client, end } = await authorized(storageWith(storage, 'grants', { issue }));
    meanwhile = end;
    expect(await provider.attempt(client)).toBe('access_denied');
  });
});

it('a redirect URI or a scope that the administrator takes away is gone for open pages too', async () => {
  const provider = await startProvider();
  const [old, kept] = ['https://app.example/old', 'https://app.example/kept'];
  for (const changes of [{ redirectUris: [kept] }, { allowedScopes: ['profile' as const] }]) {
    for (const moment of ['open', 'approved'] as const) {
      const client = await provider.client({ redirectUris: [old, kept] });
      const page = await openConsent(provider, client);
      const change = () => provider.ostiary.admin.clients.update(client.id, changes);
      if (moment === 'open') await change();
      const approved = await page.approve();
      if (moment === 'approved') await change();
      const isHere = approved.location?.startsWith(provider.origin);
      const last = isHere ? await page.browser.get(page.resume) : approved;
      expect([last.status < 500, last.callback.has('code')]).toEqual([true, false]);
      if ('redirectUris' in changes) expect(last.location).toBeNull();
    }
  }
});

describe('an approval that is sent twice', () => {
  it('at once, or beside a refusal, gives one answer', async () => {
    const provider = await startProvider();
    for (let round = 0; round < 10; round += 1) {
      const { browser, resume, approve, deny } = await openConsent(provider, await provider.client());
      const cookie = browser.cookieHeader(resume);
      const beside = round < 5 ? undefined : deny();
      const answers = await many(5, async () => {
        await approve();
        return browser.get(resume, { cookie });
      });
      await beside;
      const isCallback = ({ location }: Answer) => location?.startsWith('https://app.example/') === true;
      expect(answers.filter(isCallback).length).toBeLessThanOrEqual(1);
      for (const answer of answers) expect(answer.status).toBeLessThan(500);
    }
  });

  it('gives one code when the second is answered after the first has come back', async () => {
    const storage = memoryStorage();
    const [waiting, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    const remember: Storage['consents']['remember'] = async (consent) => {
      calls += 1;
      if (calls === 2) {
        waiting.resolve();
        await slow.promise;
      }
      return storage.consents.remember(consent);
    };
    const provider = await startProvider({ storage: storageWith(storage, 'consents', { remember }) });
    const { browser, resume, approve } = await openConsent(provider, await provider.client());
    const cookie = browser.cookieHeader(resume);
    await approve();
    const second = approve();
    await waiting.promise;
    expect((await browser.get(resume)).outcome).toBe('303 code');
    slow.resolve();
    for (const answer of [await second, await browser.get(resume, { cookie })])
      expect([answer.status, answer.location]).toEqual([400, null]);
  });
});
