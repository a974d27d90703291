import { describe, expect, it } from 'vitest';
import { openConsent, showConsent } from '../support/consent-form.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

describe('two tabs of one browser', () => {
  it('go side by side, in any order, each to its own end', async () => {
    const one = await provider.client({ name: 'App one' });
    const two = await provider.client({ name: 'App two' });
    const browser = provider.browser();
    const first = await openConsent(provider, one, { state: 'one', scope: 'openid' }, browser);
    const second = await openConsent(provider, two, { state: 'two', scope: 'openid kyc' }, browser);
    expect((await showConsent(browser, first.address)).text).toContain('App one');
    for (const [client, page, state, scope] of [
      [two, second, 'two', 'openid kyc'],
      [one, first, 'one', 'openid'],
    ] as const) {
      const { callback } = await page.finish();
      expect(callback.get('state')).toBe(state);
      expect((await provider.exchange(client, callback.get('code') ?? '')).json().scope).toBe(scope);
    }
  });

  it('of one app go side by side too, one approved and one denied', async () => {
    const client = await provider.client();
    const browser = provider.browser();
    const first = await openConsent(provider, client, { state: 'one' }, browser);
    const second = await openConsent(provider, client, { state: 'two', scope: 'openid kyc' }, browser);
    const denied = await browser.get((await first.deny()).location ?? '');
    expect(denied.outcome).toBe('303 access_denied');
    expect((await second.finish()).outcome).toBe('303 code');
  });
});

describe('an interaction', () => {
  it('lives one hour: after that it is neither shown nor answered nor resumed, and the purge takes it', async () => {
    const page = await openConsent(provider, await provider.client());
    const approved = await openConsent(provider, await provider.client(), {}, page.browser);
    const { location } = await approved.approve();
    provider.clock.advance(3_600_000 - 1);
    await provider.ostiary.worker.runDue();
    expect((await page.browser.get(page.address)).status).toBe(200);
    provider.clock.advance(1);
    const { browser } = page;
    for (const answer of [
      await browser.get(page.address),
      await page.approve(),
      await browser.get(location ?? ''),
    ])
      expect([answer.outcome, answer.location]).toEqual(['400 invalid_request', null]);
  });

  it.each(['unknown', 'a%2Fb', '..%2F..', '%00', '%ff', 'x'.repeat(1_000)])(
    'with the id %s is not known',
    async (id) => {
      const answer = await provider.browser().get(`/oauth/interaction/${id}`);
      expect([400, 404]).toContain(answer.status);
      expect(answer.location).toBeNull();
      expect(provider.errors).toEqual([]);
    },
  );
});
