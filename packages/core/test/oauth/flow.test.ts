import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ana } from '../support/directory.ts';
import { TestProvider } from '../support/provider.ts';

describe('the authorization code flow', () => {
  let provider: TestProvider;
  beforeAll(async () => {
    provider = await TestProvider.start();
  });
  afterAll(() => provider.stop());

  it('ends with a token that reads exactly the approved fields', async () => {
    const client = await provider.client();
    const callback = await provider.authorize(client, { scope: 'openid profile' });
    expect(callback.get('state')).toBe('a state');
    expect(callback.get('iss')).toBe(provider.origin);

    const answer = await provider.exchange(client, callback.get('code') ?? '');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { access_token: token, ...rest } = answer.json();
    expect(token).toMatch(/^svc_at_[A-Za-z0-9_-]{43}$/);
    expect(rest).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'openid profile' });

    const { sub, kid, role, country, createdAt, name, handle, avatarUrl } = ana;
    expect((await provider.userinfo(String(token))).json()).toEqual({
      sub,
      kid,
      role,
      country,
      createdAt,
      name,
      handle,
      avatarUrl,
    });
  });
});
