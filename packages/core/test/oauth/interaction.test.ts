import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerConsent, openConsent, showConsent } from '../support/consent-form.ts';
import { generousLimits, TestProvider } from '../support/provider.ts';

let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
});
afterAll(() => provider.stop());

describe('two tabs of one browser', () => {
  it('go side by side, in any order, each to its own end', async () => {
    const [one, two] = [
      await provider.client({ name: 'App one' }),
      await provider.client({ name: 'App two' }),
    ];
    const browser = provider.browser();
    const first = await openConsent(provider, one, { state: 'one', scope: 'openid' }, browser);
    const second = await openConsent(provider, two, { state: 'two', scope: 'openid kyc' }, browser);
    expect((await showConsent(browser, first.address)).text).toContain('App one');
    const ends = [
      await answerConsent(provider, browser, second),
      await answerConsent(provider, browser, first),
    ].map(({ location }) => new URL(location ?? '').searchParams);
    expect(ends.map((end) => end.get('state'))).toEqual(['two', 'one']);
    expect((await provider.exchange(two, ends[0]?.get('code') ?? '')).json().scope).toBe('openid kyc');
    expect((await provider.exchange(one, ends[1]?.get('code') ?? '')).json().scope).toBe('openid');
  });

  it('of one app go side by side too, one approved and one denied', async () => {
    const client = await provider.client();
    const browser = provider.browser();
    const first = await openConsent(provider, client, { state: 'one' }, browser);
    const second = await openConsent(provider, client, { state: 'two', scope: 'openid kyc' }, browser);
    expect((await answerConsent(provider, browser, first, 'deny')).location).toContain('error=access_denied');
    expect((await answerConsent(provider, browser, second)).location).toContain('code=');
  });
});

describe('an interaction', () => {
  it('ends with its answer: it is not shown, answered or resumed twice', async () => {
    const browser = provider.browser();
    const page = await openConsent(provider, await provider.client(), {}, browser);
    const approved = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
    expect((await browser.get(approved.location ?? '')).location).toContain('code=');
    for (const answer of [
      await browser.get(approved.location ?? ''),
      await browser.get(page.address),
      await browser.post(page.address, { csrf: page.csrf, decision: 'approve' }),
    ]) {
      expect([answer.status, answer.location]).toEqual([400, null]);
      expect(answer.text).toContain('not known');
    }
  });

  it('belongs to the browser that started it', async () => {
    const mine = provider.browser();
    const page = await openConsent(provider, await provider.client(), {}, mine);
    const other = provider.browser();
    expect((await other.get(page.address)).status).toBe(400);
    expect((await other.post(page.address, { csrf: page.csrf, decision: 'approve' })).status).toBe(400);
    const approved = await mine.post(page.address, { csrf: page.csrf, decision: 'approve' });
    expect((await other.get(approved.location ?? '')).status).toBe(400);
    expect((await mine.get(approved.location ?? '')).location).toContain('code=');
  });

  it('lives one hour, and is purged then', async () => {
    const browser = provider.browser();
    const page = await openConsent(provider, await provider.client(), {}, browser);
    provider.clock.advance(3_600_000 - 1);
    await provider.ostiary.worker.runDue();
    expect((await browser.get(page.address)).status).toBe(200);
    provider.clock.advance(1);
    expect((await browser.get(page.address)).status).toBe(400);
    const approved = await browser.post(page.address, { csrf: page.csrf, decision: 'approve' });
    expect([approved.status, approved.location]).toEqual([400, null]);
  });

  it.each(['unknown', 'a%2Fb', '..%2F..', '%00', '%ff', 'x'.repeat(1_000)])(
    'with the id %s is not known',
    async (id) => {
      const answer = await provider.browser().get(`/oauth/interaction/${id}`);
      expect([400, 404]).toContain(answer.status);
      expect(answer.location).toBeNull();
      expect(provider.logged.filter((line) => line.level === 'error')).toEqual([]);
    },
  );
});
