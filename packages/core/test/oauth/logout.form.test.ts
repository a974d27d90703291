import { describe, expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { ben } from '../support/directory.ts';
import { answer, back, loggingOut } from '../support/logging-out.ts';

const { provider, signedOut, client, logout } = await loggingOut();

describe('the form that confirms a logout is refused', () => {
  it('because its form is forged, or from another site', async () => {
    const browser = provider.browser();
    const page = await logout({}, browser);
    expect((await answer(page, 'leave', browser, { csrf: '' })).outcome).toBe('403 invalid_request');
    const consent = await openConsent(provider, await provider.client(), {}, browser);
    const { text } = await browser.get(consent.address);
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    expect((await answer(page, 'leave', browser, { csrf })).outcome).toBe('403 invalid_request');
    const [, action = ''] = /action="([^"]+)"/.exec(page.text) ?? [];
    const own = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const headers = { origin: 'https://evil.example', cookie: `host=${browser.name}` };
    const sent = await provider.call(
      new URL(action).pathname,
      new URLSearchParams({ decision: 'leave', csrf: own }),
      headers,
    );
    expect(sent.outcome).toBe('403 invalid_request');
    expect((await answer(page, 'perhaps', browser)).outcome).toBe('400 invalid_request');
    expect(signedOut).not.toContain(browser.name);
  });

  it('because another user has signed in since the question was shown: that user is asked', async () => {
    const browser = provider.browser();
    const page = await logout(
      { client_id: client.id, post_logout_redirect_uri: back, state: 'a b' },
      browser,
    );
    provider.signIn(browser, ben.sub);
    const { location } = await answer(page, 'leave', browser);
    expect(signedOut).not.toContain(browser.name);
    const asked = await browser.get(location ?? '');
    expect(asked.text).toContain(ben.name);
    expect(new URL((await answer(asked, 'leave', browser)).location ?? '').searchParams.get('state')).toBe(
      'a b',
    );
    expect(signedOut).toContain(browser.name);
  });
});
