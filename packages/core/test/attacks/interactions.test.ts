import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana, ben } from '../support/directory.ts';
import { storageWith } from '../support/fragile-storage.ts';
import type { TestClient, TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

function expectRefusal(answer: Answer, what = ''): void {
  expect.soft([what, answer.outcome, answer.location]).toEqual([what, '400 invalid_request', null]);
  expect(answer.text).not.toContain('name="csrf"');
}

describe('an interaction', () => {
  it('opens in no other browser: no login CSRF, no stolen consent page', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client, {}, provider.browser(ben.sub));
    const form = { csrf: page.csrf, decision: 'approve' };
    for (const victim of [provider.browser(ana.sub), provider.browser(ben.sub), provider.browser(null)]) {
      expectRefusal(await victim.get(page.address));
      expectRefusal(await victim.post(page.address, form));
      expectRefusal(await victim.get(page.resume));
    }
    expect(await provider.attempt(client, {}, provider.browser(ben.sub))).toBe('interaction');
    expect((await page.finish()).outcome).toBe('303 code');
  });

  it('does not open by a cookie that is unsigned, bent, or of another interaction', async () => {
    const client = await provider.client();
    const page = await openConsent(provider, client);
    const owner = page.browser;
    const other = await openConsent(provider, client, {}, owner);
    const cookie = (path: string, name: string): string =>
      new RegExp(`(?:^|; )${name}=([^;]*)`).exec(owner.cookieHeader(path))?.[1] ?? '';
    const id = cookie(page.path, 'svc_interaction');
    const signature = cookie(page.path, String.raw`svc_interaction\.sig`);
    const ofOther = cookie(other.path, String.raw`svc_interaction\.sig`);
    expect(id).toBe(page.id);
    expect(signature).toMatch(/^[\w-]{27,}$/);
    const bent = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const planted = [null, '', signature.slice(0, -1), bent, ofOther].map((sig) => [id, sig] as const);
    // Last, try another id that is correctly signed, and a name with a meaning in JavaScript.
    for (const [value, sig] of [...planted, [other.id, ofOther], ['__proto__', signature]] as const) {
      const thief = provider.browser();
      thief.setCookie('svc_interaction', value, page.path);
      if (sig !== null) thief.setCookie('svc_interaction.sig', sig, page.path);
      expectRefusal(await thief.get(page.address), `${value} ${sig}`);
      expectRefusal(
        await thief.post(page.address, { csrf: page.csrf, decision: 'approve' }),
        `${value} ${sig}`,
      );
    }
  });

  it('copied into another browser with its cookies, asks the user of that browser', async () => {
    // Cookies from a sibling domain can be planted (cookie tossing): the attacker approves, and the victim's
    // browser returns to the app.
    const loopback = await provider.client({ redirectUris: ['http://127.0.0.1:7000/callback'] });
    await provider.authorize(loopback, {}, provider.browser(ana.sub));
    const attacker = provider.browser(ben.sub);
    const page = await openConsent(provider, loopback, {}, attacker);
    await page.approve();
    const victim = provider.browser(ana.sub);
    for (const pair of attacker.cookieHeader(page.resume).split('; ')) {
      const split = pair.indexOf('=');
      if (pair.startsWith('svc_')) victim.setCookie(pair.slice(0, split), pair.slice(split + 1), page.resume);
    }
    expect((await victim.get(page.resume)).outcome).toBe('303 interaction');
    // The attacker's approval is used up.
    expectRefusal(await attacker.get(page.resume));
  });

  it('is approved once, and its response is not repeated to another browser', async () => {
    const page = await openConsent(provider, await provider.client());
    expect((await page.finish()).outcome).toBe('303 code');
    expectRefusal(await page.browser.get(page.address));
    expectRefusal(await page.deny());
    expectRefusal(await provider.browser().post(page.address, { csrf: page.csrf, decision: 'approve' }));
    expect((await page.post({ decision: 'approve', csrf: 'forged' })).outcome).toBe('403 invalid_request');
    provider.signIn(page.browser, ben.sub);
    expectRefusal(await page.approve());
    expectRefusal(await page.browser.get(page.resume));
  });

  it('skips nothing when the way back is taken without an answer', async () => {
    for (const changes of [{}, { prompt: 'login' }, { prompt: 'consent' }, { max_age: '0' }]) {
      const browser = provider.browser();
      const { location } = await browser.get(provider.authorizeUrl(await provider.client(), changes));
      const answer = await browser.get(`${location}/resume`);
      expect([changes, answer.outcome]).toEqual([changes, '303 interaction']);
    }
  });
});

type End = (provider: TestProvider, client: TestClient) => Promise<unknown>;

// The contract of storages covers access that ends during the exchange of a code.
it.each<readonly [string, End]>([
  ['the user removes the app', (provider, client) => provider.removeApp(client)],
  ['the client is disabled', (provider, client) => provider.ostiary.admin.clients.disable(client.id)],
  ['the user is ended', (provider) => provider.ostiary.users.end(ana.sub)],
])('while a code is being stored, %s: there is no code', async (_name, end) => {
  const storage = memoryStorage();
  let meanwhile = async (): Promise<unknown> => undefined;
  const issue: Storage['grants']['issue'] = async (grant) => {
    await meanwhile();
    return storage.grants.issue(grant);
  };
  const slow = await startProvider({ storage: storageWith(storage, 'grants', { issue }) });
  const client = await slow.client();
  await slow.authorize(client);
  meanwhile = () => end(slow, client);
  expect(await slow.attempt(client)).toBe('access_denied');
});

it('a redirect URI or a scope that the administrator removes is refused for open pages, too', async () => {
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
  it('issues one code if the second form is sent after the first returned', async () => {
    const storage = memoryStorage();
    const [waiting, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isSlow = false;
    const remember: Storage['consents']['remember'] = async (consent) => {
      if (isSlow) waiting.resolve();
      if (isSlow) await slow.promise;
      return storage.consents.remember(consent);
    };
    const halting = await startProvider({ storage: storageWith(storage, 'consents', { remember }) });
    const { browser, resume, approve } = await openConsent(halting, await halting.client());
    await approve();
    isSlow = true;
    const second = approve();
    await waiting.promise;
    const first = await browser.get(resume);
    expect(first.outcome).toBe('303 code');
    slow.resolve();
    for (const answer of [await second, await browser.get(resume)])
      expect([answer.status, answer.location]).toEqual([303, first.location]);
  });

  it('together with a refusal has one result', async () => {
    const { browser, resume, approve, deny } = await openConsent(provider, await provider.client());
    const cookie = browser.cookieHeader(resume);
    await Promise.all([approve(), deny()]);
    const answers = await Promise.all([1, 2, 3].map(() => browser.get(resume, { cookie })));
    const given = answers.flatMap(({ location }) =>
      location?.startsWith('https://app.example/') ? [location] : [],
    );
    expect(new Set(given).size).toBeLessThanOrEqual(1);
  });
});
