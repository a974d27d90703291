import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { openConsent } from '../support/consent-form.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { startProvider } from '../support/running.ts';

/** A provider, and how many interactions were written to its database, and are left there. */
async function counted(options: Partial<OstiaryOptions> = {}) {
  const database = fragileStorage();
  const provider = await startProvider({ storage: database.storage, ...options });
  const calls = (name: string) => database.calls.filter((call) => call === `interactions.${name}`).length;
  const writes = () => calls('save');
  return { provider, client: await provider.client(), writes, rows: () => writes() - calls('remove') };
}

describe('what an anonymous caller can fill', () => {
  it('refused requests and silent ones leave no interaction', async () => {
    const { provider, client, rows } = await counted();
    for (const changes of [
      { prompt: 'none' },
      { scope: 'nonsense' },
      { response_type: 'token' },
      { redirect_uri: 'https://evil.example/' },
      { client_id: 'stranger' },
      { request_uri: 'https://evil.example/' },
      { state: 'a'.repeat(5000) },
    ]) {
      await provider.browser(null).get(provider.authorizeUrl(client, changes));
    }
    expect(rows()).toBe(0);
  });

  it('one interaction stays one, however often its browser goes around', async () => {
    const { provider, client, rows } = await counted();
    const browser = provider.browser();
    let url = (await browser.get(provider.authorizeUrl(client))).location ?? '';
    for (let turn = 0; turn < 10; turn += 1) {
      await browser.get(url);
      const { location } = await browser.get(url.replace('interaction', 'authorize'));
      url = location ?? '';
      expect(rows()).toBe(1);
    }
    const page = await openConsent(provider, client, {}, browser);
    await page.approve();
    expect((await page.finish()).outcome).toBe('303 code');
    expect(rows()).toBe(1);
  });

  it('coming back without an answer is limited like a start', async () => {
    const { provider, client, writes } = await counted({ limits: { authorizeStarts: 5 } });
    const browser = provider.browser();
    let url = (await browser.get(provider.authorizeUrl(client))).location ?? '';
    const statuses: number[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const { status, location } = await browser.get(url.replace('interaction', 'authorize'));
      statuses.push(status);
      url = location ?? url;
    }
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429, 429, 429]);
    expect(writes()).toBe(6);
  });
});
