import { expect, it } from 'vitest';
import { openConsent } from '../../support/consent-form.ts';
import { startProvider } from '../../support/running.ts';

const provider = await startProvider();

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
