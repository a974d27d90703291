import { describe, expect, it } from 'vitest';
import { allowedScopes, refreshing } from '../support/refreshing.ts';
import { startProvider } from '../support/running.ts';

const { provider, refresh } = await refreshing();
const { clients } = provider.ostiary.admin;

describe('a request without scope', () => {
  it('asks for the defaultScope of its client, and its answer names that', async () => {
    const app = await provider.client({ defaultScope: 'profile openid' });
    for (const scope of [undefined, '', ' '])
      expect(await provider.tokens(app, { scope })).toMatchObject({ scope: 'profile openid' });
    expect((await provider.tokens(app, { scope: 'kyc' })).scope).toBe('kyc');
  });

  it('is refused where the client has none (any more)', async () => {
    const app = await provider.client({ defaultScope: 'openid' });
    expect(await provider.attempt(app, { scope: undefined })).toBe('interaction');
    await clients.update(app.id, { defaultScope: null });
    const callback = await provider.authorize(app, { scope: undefined });
    expect(callback.get('error')).toBe('invalid_request');
    expect(callback.get('error_description')).toBe('The parameter scope is missing.');
  });

  it('asks for offline_access where that is a part of the default', async () => {
    const app = await provider.client({ allowedScopes, defaultScope: 'openid offline_access' });
    expect(await provider.tokens(app, { scope: undefined })).toHaveProperty('refresh_token');
  });
});

describe('offline_access that a client is not allowed', () => {
  it('is left out, at authorize, in the answer and in the consent', async () => {
    const app = await provider.client({ allowedScopes: ['openid', 'kyc'] });
    for (const scope of ['openid offline_access', 'offline_access kyc']) {
      const tokens = await provider.tokens(app, { scope });
      expect(tokens.scope).toBe(scope.replace(/ ?offline_access ?/, ''));
      expect(tokens).not.toHaveProperty('refresh_token');
    }
    // The user has agreed to the others, and is not asked again.
    expect(await provider.attempt(app, { scope: 'openid offline_access', prompt: 'none' })).toBe('code');
  });

  it('is refused where it is all that is asked for, and beside a scope that is refused', async () => {
    const app = await provider.client({ allowedScopes: ['openid'] });
    for (const scope of ['offline_access', 'offline_access kyc', 'openid offline_access kyc'])
      expect([scope, await provider.attempt(app, { scope })]).toEqual([scope, 'invalid_scope']);
    for (const scope of ['openid Offline_access', 'openid offline_access,kyc'])
      expect([scope, await provider.attempt(app, { scope })]).toEqual([scope, 'invalid_scope']);
  });

  it('is refused as before where the host gives no refresh tokens', async () => {
    const plain = await startProvider();
    const app = await plain.client();
    expect(await plain.attempt(app, { scope: 'openid offline_access' })).toBe('invalid_scope');
  });
});

describe('a client with refreshWithoutOfflineAccess', () => {
  const settings = { allowedScopes: ['openid', 'kyc'], refreshWithoutOfflineAccess: true };

  it.each([false, true])('gets a refresh token with every code; public: %s', async (isPublic) => {
    const app = await provider.client({ ...settings, public: isPublic });
    const tokens = await provider.tokens(app, { scope: 'openid kyc' });
    expect(tokens).toMatchObject({ scope: 'openid kyc', refresh_token: expect.stringMatching(/^svc_rt_/) });
    const narrow = (await refresh(tokens.refresh_token, app, { scope: 'kyc' })).json();
    expect(narrow).toMatchObject({ scope: 'kyc', refresh_token: expect.stringMatching(/^svc_rt_/) });
    const whole = (await refresh(narrow.refresh_token, app)).json();
    expect(whole).toMatchObject({ scope: 'openid kyc', refresh_token: expect.stringMatching(/^svc_rt_/) });
    // Reuse of a refresh token whose replacement was used, too, ends the sign-in.
    expect((await refresh(tokens.refresh_token, app)).outcome).toBe('400 invalid_grant');
    expect(await provider.isAlive(whole.access_token)).toBe(false);
  });

  it('gets none any more when the switch is off, and cannot use those that it has', async () => {
    const app = await provider.client(settings);
    const { refresh_token } = await provider.tokens(app);
    await clients.update(app.id, { refreshWithoutOfflineAccess: false });
    expect((await refresh(refresh_token, app)).outcome).toBe('400 invalid_grant');
    expect(await provider.tokens(app)).not.toHaveProperty('refresh_token');
  });

  it('cannot refresh when all of its scopes were taken away', async () => {
    const app = await provider.client(settings);
    const { refresh_token } = await provider.tokens(app, { scope: 'kyc' });
    await clients.update(app.id, { allowedScopes: ['openid'] });
    expect((await refresh(refresh_token, app)).outcome).toBe('400 invalid_grant');
  });

  it('gets none where the host gives none', async () => {
    const plain = await startProvider();
    const app = await plain.client(settings);
    expect(await plain.tokens(app)).not.toHaveProperty('refresh_token');
  });
});
