import { expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const script = { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors', accept: '*/*' };

/** Returns the lifetime in seconds of each cookie that a response sets, by name. */
function lives(headers: Headers): Record<string, number> {
  const lines = headers.getSetCookie().map((line) => {
    const end = /expires=([^;]+)/i.exec(line)?.[1] ?? '';
    return [line.slice(0, line.indexOf('=')), Math.round((Date.parse(end) - Date.now()) / 1000)] as const;
  });
  return Object.fromEntries(lines);
}

/** Checks that a response sets one cookie and the cookie with its signature, both with this lifetime. */
function expectLife(headers: Headers, seconds: number): void {
  const found = Object.entries(lives(headers));
  expect(found.map(([name]) => name)).toEqual(['svc_interaction', 'svc_interaction.sig']);
  for (const [name, life] of found)
    expect(Math.abs(life - seconds), `${name} lives ${life} s`).toBeLessThan(20);
}

it('a script that follows a redirect to authorize starts no interaction, and reads why', async () => {
  const client = await provider.client();
  for (const browser of [provider.browser(), provider.browser(null)]) {
    for (const accept of ['*/*', 'text/html,application/xhtml+xml,*/*;q=0.8']) {
      const answer = await browser.get(provider.authorizeUrl(client), { ...script, accept });
      expect(answer.outcome).toBe('401 login_required');
      expect(answer.json().error_description).toContain('A script cannot do that');
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  }
});

it('a script gets a code if no page is needed, and otherwise the errors of prompt=none', async () => {
  const client = await provider.client();
  const [browser, stranger] = [provider.browser(), provider.browser(null)];
  await provider.authorize(client, {}, browser);
  expect((await browser.get(provider.authorizeUrl(client), script)).outcome).toBe('303 code');
  const silent = provider.authorizeUrl(client, { prompt: 'none' });
  expect((await stranger.get(silent, script)).outcome).toBe('303 login_required');
});

it('what is no script of a page starts one: a frame, a tab, and a server with fetch', async () => {
  const url = provider.authorizeUrl(await provider.client());
  for (const dest of [undefined, 'document', 'iframe']) {
    const headers = { 'sec-fetch-mode': 'cors', ...(dest !== undefined && { 'sec-fetch-dest': dest }) };
    expect((await provider.browser().get(url, headers)).outcome).toBe('303 interaction');
  }
});

it('cookies live as long as their interaction: ten minutes without a user, an hour with one, a minute when it is over', async () => {
  const client = await provider.client();
  const browser = provider.browser(null);
  const started = await browser.get(provider.authorizeUrl(client));
  expectLife(started.headers, 600);
  provider.signIn(browser, 'user-ana');
  expectLife((await browser.get(started.location ?? '')).headers, 3600);

  const signedIn = provider.browser();
  expectLife((await signedIn.get(provider.authorizeUrl(client))).headers, 3600);
  const page = await openConsent(provider, client, {}, signedIn);
  const ended = await page.finish();
  expect(ended.outcome).toBe('303 code');
  expectLife(ended.headers, 60);
});
