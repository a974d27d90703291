import { describe, expect, it } from 'vitest';
import { scopeNames } from '../../src/index.ts';
import { ana, scopeFields } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();

const combinations = Array.from({ length: 2 ** scopeNames.length - 1 }, (_, index) =>
  scopeNames.filter((_name, bit) => ((index + 1) >> bit) & 1),
);

describe('the scopes', () => {
  it.each(combinations.map((scopes) => [scopes.join(' '), scopes] as const))(
    '%s give exactly their fields',
    async (scope, scopes) => {
      const answer = await provider.tokens(client, { scope });
      expect(answer.scope).toBe(scope);
      expect(Object.hasOwn(answer, 'id_token')).toBe(scopes.includes('openid'));
      const expected = Object.fromEntries(
        scopes.flatMap((name) => scopeFields[name].map((field) => [field, ana[field]])),
      );
      expect((await provider.userinfo(String(answer.access_token))).json()).toEqual(expected);
    },
  );

  it('are given in the order in which they were asked for, once each', async () => {
    const { scope } = await provider.tokens(client, { scope: ' kyc  openid kyc profile openid ' });
    expect(scope).toBe('kyc openid profile');
  });
});

describe('a scope that is refused', async () => {
  const narrow = await provider.client({ allowedScopes: ['openid', 'kyc'] });

  it.each<readonly [string, string]>([
    ['openid profile', 'profile'],
    ['openid wallet:balance kyc identity', 'wallet:balance identity'],
    ...['profile', 'OpenID', 'offline_access', 'toString', '__proto__', 'mail,phone'].map(
      (scope) => [scope, scope] as const,
    ),
    // The response does not repeat a malformed scope.
    ...['a"b', 'a\\b', 'é', 'x'.repeat(65), 'a\tb'].map((scope) => [scope, '(malformed)'] as const),
  ])('fails the whole request (%j) and is named with the allowedScopes', async (scope, named) => {
    const callback = await provider.authorize(narrow, { scope });
    expect(callback.get('error')).toBe('invalid_scope');
    expect(callback.get('error_description')).toBe(
      `Not allowed: ${named}. This client's allowedScopes: openid kyc.`,
    );
    expect(callback.has('code')).toBe(false);
  });

  it('is another thing than a missing one, which is invalid_request', async () => {
    for (const scope of [undefined, '', ' ', '   '])
      expect(await provider.attempt(client, { scope })).toBe('invalid_request');
  });

  it('is one that was taken from the client, from the next request on; tokens keep what was approved', async () => {
    const app = await provider.client();
    const token = await provider.token(app, 'openid kyc');
    await provider.ostiary.admin.clients.update(app.id, { allowedScopes: ['openid'] });
    expect(await provider.attempt(app, { scope: 'openid kyc' })).toBe('invalid_scope');
    expect((await provider.userinfo(token)).json()).toMatchObject({ kycTier: ana.kycTier });
  });
});
