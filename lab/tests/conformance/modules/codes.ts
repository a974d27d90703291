import { expect } from 'vitest';
import { ask } from '../../../support/browser/ask.ts';
import { checkReuse } from '../support/conditions.ts';
import { exchange, signIn, userinfo } from '../support/flow.ts';
import type { RunModule } from './module.ts';

export const codeReuse: RunModule = {
  name: 'oidcc-codereuse',
  checks: 'a code that is presented again at once is `invalid_grant`',
  async run(suite) {
    const { code } = await signIn(suite);
    checkReuse(await exchange(suite, code));
  },
};

export const codeReuseAfter30Seconds: RunModule = {
  name: 'oidcc-codereuse-30seconds',
  checks: 'a code that is presented again after 30 seconds is `invalid_grant`, and its token stops working',
  note: 'the clock of the provider is moved on by 30 seconds instead of waiting',
  async run(suite) {
    const { code, accessToken } = await signIn(suite);
    suite.deployment.clock.advance(30_000);
    expect((await userinfo(suite, accessToken)).status).toBe(200);
    checkReuse(await exchange(suite, code));
    const after = await userinfo(suite, accessToken);
    expect(after.status).toBe(401);
    expect(after.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
  },
};

export const refreshToken: RunModule = {
  name: 'oidcc-refresh-token',
  checks: 'no refresh token is issued, announced or accepted, for either client',
  note: 'the original skips what follows where no refresh token is issued',
  async run(suite) {
    expect(suite.metadata.grant_types_supported).toEqual(['authorization_code']);
    for (const client of [suite.client, suite.secondClient]) {
      const { tokens, accessToken } = await signIn(suite, { client });
      expect(tokens).not.toHaveProperty('refresh_token');
      const form = {
        grant_type: 'refresh_token',
        refresh_token: accessToken,
        client_id: client.id,
        client_secret: client.secret,
      };
      const answer = await ask(suite.endpoint('token'), { method: 'POST', form });
      expect([answer.status, answer.json().error]).toEqual([400, 'unsupported_grant_type']);
    }
  },
};
