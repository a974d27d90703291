import { expect, it, onTestFinished, vi } from 'vitest';
import { openConsent } from '../../support/consent-form.ts';
import { startProvider } from '../../support/running.ts';

const provider = await startProvider();
const script = { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors', accept: '*/*' };

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

it.each([-120, 61, 600])(
  'an interaction goes on at a machine whose own clock is %i minutes away from that of the service',
  async (minutes) => {
    const provider = await startProvider();
    const page = await openConsent(provider, await provider.client());
    onTestFinished(() => void vi.useRealTimers());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
    const { location } = await page.approve();
    vi.useRealTimers();
    expect((await page.browser.get(location ?? '')).outcome).toBe('303 code');
  },
);
