import { expect, it } from 'vitest';
import { ben } from '../../support/directory.ts';
import { startProvider } from '../../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
await provider.code(client);

it('prompt=none never shows a page', async () => {
  const app = await provider.client();
  const loopback = await provider.client({ redirectUris: ['http://localhost/cb'] });
  for (const [of, browser] of [
    [app, provider.browser(null)],
    [app, provider.browser()],
    [client, provider.browser(ben.sub)],
    [loopback, provider.browser()],
  ] as const) {
    for (const scope of ['openid', 'openid kyc', 'nonsense']) {
      const answer = await browser.get(provider.authorizeUrl(of, { prompt: 'none', scope }));
      expect([answer.status, answer.text]).toEqual([303, '']);
      expect(answer.location?.startsWith(of.redirectUri)).toBe(true);
    }
  }
});
