import { describe, expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { pkce, type TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const { bound } = pkce();
const scope = 'openid profile kyc';
const clientWithChoice = (changes = {}) =>
  provider.client({
    optionalScopes: ['profile', 'kyc'],
    allowedScopes: ['openid', 'profile', 'kyc'],
    ...changes,
  });

type Page = Awaited<ReturnType<typeof openConsent>>;

/** Approves the consent page with the given form fields, and returns the token response. */
async function approveWith(client: TestClient, page: Page, fields: Record<string, string>) {
  const { location } = await page.post({ decision: 'approve', ...fields });
  const { callback } = await page.browser.get(location ?? '');
  return (await provider.exchange(client, callback.get('code') ?? '')).json();
}
const onlyProfile = { offered: 'profile kyc', 'allow:profile': 'on' };
const silently = (client: TestClient, changes: Record<string, string> = {}) =>
  provider.attempt(client, { ...bound, scope, ...changes }, provider.browser());

describe('optional scopes', () => {
  it('are left out of tokens, userinfo and what is remembered, without asking again', async () => {
    const client = await clientWithChoice();
    const page = await openConsent(provider, client, { scope });
    expect(page.text).toContain('name="allow:profile"');
    expect(page.text).not.toContain('name="allow:openid"');
    const { scope: granted, access_token } = await approveWith(client, page, onlyProfile);
    expect(granted).toBe('openid profile');
    const userinfo = (await provider.userinfo(String(access_token))).json();
    expect(userinfo).toMatchObject({ name: ana.name });
    expect(userinfo).not.toHaveProperty('kycStatus');
    expect(await silently(client, { prompt: 'none' })).toBe('code');
    const again = await provider.code(client, { scope, prompt: 'none' });
    expect((await provider.exchange(client, again)).json().scope).toBe('openid profile');
    expect(await silently(client, { scope: 'openid kyc' })).toBe('code');
  });

  it('are asked for again by prompt=consent, with the earlier choice, and can be added then', async () => {
    const client = await clientWithChoice();
    await approveWith(client, await openConsent(provider, client, { scope }), onlyProfile);
    const page = await openConsent(provider, client, { scope, prompt: 'consent' });
    expect(page.text).toMatch(/name="allow:profile" form="decision" checked/);
    expect(page.text).toMatch(/name="allow:kyc" form="decision">/);
    const both = { ...onlyProfile, 'allow:kyc': 'on' };
    expect((await approveWith(client, page, both)).scope).toBe(scope);
  });

  it('that the user withdraws later end the tokens that had them, and no others', async () => {
    const client = await clientWithChoice();
    const all = { ...onlyProfile, 'allow:kyc': 'on' };
    const first = await approveWith(client, await openConsent(provider, client, { scope }), all);
    const narrow = await provider.code(client, { scope: 'openid' });
    const other = (await provider.exchange(client, narrow)).json();
    await approveWith(client, await openConsent(provider, client, { scope, prompt: 'consent' }), onlyProfile);
    expect((await provider.userinfo(String(first.access_token))).outcome).toBe('401 invalid_token');
    expect((await provider.userinfo(String(other.access_token))).status).toBe(200);
  });

  it('all left out with nothing else requested are a denial', async () => {
    const client = await clientWithChoice();
    const page = await openConsent(provider, client, { scope: 'profile kyc' });
    const { location } = await page.post({ decision: 'approve', offered: 'profile kyc' });
    const { callback } = await page.browser.get(location ?? '');
    expect(callback.get('error')).toBe('access_denied');
  });

  it('cannot be others than those of the client, whatever the form says', async () => {
    const client = await clientWithChoice();
    const page = await openConsent(provider, client, { scope });
    for (const offered of ['openid', 'openid profile kyc', 'email', '__proto__']) {
      const { location } = await page.post({ decision: 'approve', offered });
      expect([offered, new URL(location ?? '').pathname]).toEqual([offered, page.path]);
    }
    expect(await approveWith(client, page, {})).toMatchObject({ scope });
  });

  it('that stopped being optional while the page was open are asked for again', async () => {
    const client = await clientWithChoice();
    const page = await openConsent(provider, client, { scope });
    await provider.ostiary.admin.clients.update(client.id, { optionalScopes: [] });
    const { location } = await page.post({ decision: 'approve', ...onlyProfile });
    const shown = await page.browser.get(location ?? '');
    expect(shown.text).not.toContain('type="checkbox"');
    expect(shown.status).toBe(200);
  });

  it('that were left out and then became required are asked for', async () => {
    const client = await clientWithChoice();
    await approveWith(client, await openConsent(provider, client, { scope }), onlyProfile);
    await provider.ostiary.admin.clients.update(client.id, { optionalScopes: ['profile'] });
    expect(await silently(client)).toBe('interaction');
  });

  it.each([
    [['openid'], /optionalScopes: openid cannot be left out/],
    [['identity'], /optionalScopes: identity is not among allowedScopes/],
  ])('%s are refused at provisioning', async (optionalScopes, problem) => {
    await expect(clientWithChoice({ optionalScopes })).rejects.toThrow(problem);
  });
});
