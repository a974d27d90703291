import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { basic } from '../../../../packages/core/test/support/provider.ts';
import { checkUserinfo, expectReuse, signIn, userinfo } from '../support/flow.ts';
import { type Module, module, type RunModule } from './module.ts';

/**
 * Makes the check of a conformance module that requests userinfo with the access token in a place (such as
 * the header) that `sent` chooses.
 */
const userinfoWith =
  (sent: (token: string) => RequestInit): RunModule['run'] =>
  async (suite) => {
    const { accessToken, claims } = await signIn(suite);
    checkUserinfo(await userinfo(suite, accessToken, sent(accessToken)), claims.sub);
  };

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** Conformance modules about the use of tokens and codes. */
export const tokens: readonly Module[] = [
  module(
    'oidcc-userinfo-get',
    'userinfo with GET and the token in the header',
    userinfoWith((token) => bearer(token)),
  ),
  module(
    'oidcc-userinfo-post-header',
    'userinfo with POST and the token in the header',
    userinfoWith((token) => ({ method: 'POST', ...bearer(token) })),
  ),
  module(
    'oidcc-userinfo-post-body',
    'userinfo with POST and the token in the form',
    userinfoWith((token) => ({ method: 'POST', body: new URLSearchParams({ access_token: token }) })),
  ),
  module(
    'oidcc-claims-essential',
    'a `claims` parameter that asks for `name` does no harm',
    async (suite) => {
      expect(suite.metadata.claims_parameter_supported).toBe(false);
      const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
      const { userinfo: record } = await signIn(suite, { parameters: { claims } });
      expect(record).not.toHaveProperty('name');
    },
    {
      warning: 'the parameter is ignored, and the metadata says so: `name` comes with the scope `profile`',
    },
  ),
  module('oidcc-codereuse', 'a code that is used again at once gets `invalid_grant`', async (suite) => {
    const { code } = await signIn(suite);
    await expectReuse(suite, code);
  }),
  module(
    'oidcc-codereuse-30seconds',
    'a code that is used again after 30 seconds gets `invalid_grant`, and its token stops working',
    async (suite) => {
      const { code, accessToken } = await signIn(suite);
      suite.clock.advance(30_000);
      expect((await userinfo(suite, accessToken)).status).toBe(200);
      await expectReuse(suite, code);
      const after = await userinfo(suite, accessToken);
      expect(after.status).toBe(401);
      expect(after.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
    },
    { note: 'the clock of the provider is moved on by 30 seconds instead of waiting' },
  ),
  module(
    'oidcc-refresh-token',
    'with `offline_access` a refresh token gives new tokens of the same user and sign-in, to its client alone',
    async (suite) => {
      expect(suite.metadata.grant_types_supported).toContain('refresh_token');
      const parameters = { scope: 'openid offline_access', prompt: 'consent' };
      const { tokens, accessToken, claims } = await signIn(suite, { parameters });
      const refreshed = (client = suite.client) =>
        suite.ask(suite.endpoint('token'), {
          method: 'POST',
          headers: { authorization: basic(client.id, client.secret) },
          body: new URLSearchParams({
            grant_type: 'refresh_token',
            refresh_token: String(tokens.refresh_token),
          }),
        });
      const stolen = await refreshed(suite.secondClient);
      expect([stolen.status, stolen.json().error]).toEqual([400, 'invalid_grant']);
      const answer = await refreshed();
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
      const next = answer.json();
      expect(next.access_token).not.toBe(accessToken);
      expect(next.refresh_token).not.toBe(tokens.refresh_token);
      const { iss, sub, aud, auth_time } = claims;
      expect(decodeJwt(String(next.id_token))).toMatchObject({ iss, sub, aud, auth_time });
      expect(decodeJwt(String(next.id_token))).not.toHaveProperty('nonce');
      checkUserinfo(await userinfo(suite, String(next.access_token)), sub);
    },
  ),
];
