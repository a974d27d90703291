import { AuthorizationCode } from 'simple-oauth2';
import { expect, it } from 'vitest';
import { startProvider } from '../../../packages/core/test/support/running.ts';

const provider = await startProvider({ refreshTokens: {} });

it.each([
  ['header', 'form'],
  ['body', 'form'],
  ['body', 'json'],
] as const)(
  'completes the flow with its secret in the %s of a %s request, and revokes',
  async (authorizationMethod, bodyFormat) => {
    const app = await provider.client({ allowedScopes: ['profile', 'offline_access'] });
    const config = new AuthorizationCode({
      client: { id: app.id, secret: app.secret ?? '' },
      auth: {
        tokenHost: provider.origin,
        tokenPath: '/v1/oauth/token',
        revokePath: '/v1/oauth/revoke',
        authorizePath: '/oauth/authorize',
      },
      options: { authorizationMethod, bodyFormat },
    });
    const url = config.authorizeURL({ redirect_uri: app.redirectUri, scope: 'profile', state: 'st' });
    const { location } = await provider.follow(provider.browser(), url);
    const callback = new URL(location ?? '').searchParams;
    expect(callback.get('state')).toBe('st');

    const token = await config.getToken({
      code: callback.get('code') ?? '',
      redirect_uri: app.redirectUri,
    });
    const accessToken = String(token.token.access_token);
    expect(token.token).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'profile' });
    expect((await provider.userinfo(accessToken)).json()).toMatchObject({ handle: 'ana' });

    await token.revoke('access_token');
    expect((await provider.userinfo(accessToken)).status).toBe(401);

    const scope = 'profile offline_access';
    const again = await provider.follow(
      provider.browser(),
      config.authorizeURL({ redirect_uri: app.redirectUri, scope, state: 'st' }),
    );
    const code = new URL(again.location ?? '').searchParams.get('code') ?? '';
    const offline = await config.getToken({ code, redirect_uri: app.redirectUri });
    const refreshed = await (await offline.refresh()).refresh();
    expect((await provider.userinfo(String(refreshed.token.access_token))).status).toBe(200);
    await refreshed.revokeAll();
    expect((await provider.userinfo(String(refreshed.token.access_token))).status).toBe(401);
    await expect(refreshed.refresh()).rejects.toThrow('Bad Request');
  },
);
