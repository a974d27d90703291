import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { storageWith } from '../support/fragile-storage.ts';
import type { TestClient, TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

/** The ways in which access ends. */
const endings: Readonly<Record<string, (provider: TestProvider, client: TestClient) => Promise<unknown>>> = {
  'the user removes the app': (provider, client) => provider.removeApp(client),
  'the client is disabled': (provider, client) => provider.ostiary.admin.clients.disable(client.id),
  'the user is ended': (provider) => provider.ostiary.users.end(ana.sub),
};

// What ends while a code is exchanged is shown by the contract of storages, and with two processes in the lab.
it.each(Object.entries(endings))('while a code is being stored, %s: there is no code', async (_name, end) => {
  const storage = memoryStorage();
  let meanwhile = async (): Promise<unknown> => undefined;
  const issue: Storage['grants']['issue'] = async (grant) => {
    await meanwhile();
    return storage.grants.issue(grant);
  };
  const provider = await startProvider({ storage: storageWith(storage, 'grants', { issue }) });
  const client = await provider.client();
  await provider.authorize(client);
  meanwhile = () => end(provider, client);
  expect(await provider.attempt(client)).toBe('access_denied');
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

  it('beside a refusal gives one answer', async () => {
    const provider = await startProvider();
    const { browser, resume, approve, deny } = await openConsent(provider, await provider.client());
    const cookie = browser.cookieHeader(resume);
    await Promise.all([approve(), deny()]);
    const answers = await Promise.all([1, 2, 3].map(() => browser.get(resume, { cookie })));
    const given = answers.filter(({ location }) => location?.startsWith('https://app.example/'));
    expect(given.length).toBeLessThanOrEqual(1);
  });
});
