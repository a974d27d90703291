import { expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ refreshTokens: {} });
const client = await provider.client({ allowedScopes: ['openid', 'profile', 'kyc', 'offline_access'] });

it.each([
  ['openid profile', ['id_token']],
  ['profile', []],
  ['profile offline_access', ['refresh_token']],
  ['openid offline_access', ['refresh_token', 'id_token']],
])('a response with the scopes %s has the access token and %j', async (scope, others) => {
  const { access_token: token, ...rest } = await provider.tokens(client, { scope });
  expect(token).toMatch(/^svc_at_[\w-]{43}$/);
  expect(Object.keys(rest)).toEqual(['token_type', 'expires_in', 'scope', ...others]);
  expect(rest).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope });
});

it('an access token ends an hour after its issue, to the millisecond', async () => {
  const token = await provider.token(client);
  provider.clock.advance(3_599_999);
  expect(await provider.isAlive(token)).toBe(true);
  provider.clock.advance(1);
  expect(await provider.isAlive(token)).toBe(false);
});
