import { Auth, type AuthConfig, customFetch } from '@auth/core';
import { expect, it } from 'vitest';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';

const app = 'https://app.example';

const provider = await startProvider();

it('signs a user in with scopes of the table and userinfo as the source of the profile', async () => {
  const client = await provider.client({ redirectUris: [`${app}/auth/callback/ostiary`] });
  const seen: unknown[] = [];
  const config: AuthConfig = {
    basePath: '/auth',
    secret: 'a secret of the application',
    trustHost: true,
    logger: { error: (error) => seen.push(error), warn() {}, debug() {} },
    providers: [
      {
        id: 'ostiary',
        name: 'Ostiary',
        type: 'oidc',
        issuer: provider.origin,
        clientId: client.id,
        clientSecret: client.secret ?? '',
        checks: ['pkce', 'state', 'nonce'],
        authorization: { params: { scope: 'openid profile' } },
        idToken: false,
        profile: (profile) => ({
          id: String(profile.sub),
          name: String(profile.name),
          image: null,
          email: null,
        }),
        // Auth.js speaks https only; this test's provider is on loopback.
        [customFetch]: fetch,
      },
    ],
    callbacks: {
      session: ({ session, token }) => ({ ...session, userId: token.sub }),
    },
  };

  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await Auth(new Request(app + path, { ...init, headers }), config);
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s);
      cookies.set(name, value);
    }
    return response;
  };

  const { csrfToken } = (await (await send('/auth/csrf')).json()) as { csrfToken: string };
  const start = await send('/auth/signin/ostiary', {
    method: 'POST',
    body: new URLSearchParams({ csrfToken }),
  });
  const { location } = await provider.follow(provider.browser(), start.headers.get('location') ?? '');
  const callback = new URL(location ?? '');
  await send(callback.pathname + callback.search);
  expect(seen).toEqual([]);
  const session = (await (await send('/auth/session')).json()) as { user?: { name?: string } };
  expect(session.user?.name).toBe(ana.name);
});
