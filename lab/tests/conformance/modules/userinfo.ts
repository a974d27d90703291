import { expect } from 'vitest';
import { ask } from '../../../support/browser/ask.ts';
import { checkUserinfo } from '../support/conditions.ts';
import { signIn, userinfo } from '../support/flow.ts';
import type { RunModule } from './module.ts';

export const userinfoGet: RunModule = {
  name: 'oidcc-userinfo-get',
  checks: 'userinfo with GET and the token in the header',
  async run(suite) {
    const { accessToken, claims } = await signIn(suite);
    checkUserinfo(await userinfo(suite, accessToken), claims.sub);
  },
};

export const userinfoPostHeader: RunModule = {
  name: 'oidcc-userinfo-post-header',
  checks: 'userinfo with POST and the token in the header',
  async run(suite) {
    const { accessToken, claims } = await signIn(suite);
    checkUserinfo(await userinfo(suite, accessToken, 'POST'), claims.sub);
  },
};

export const userinfoPostBody: RunModule = {
  name: 'oidcc-userinfo-post-body',
  checks: 'userinfo with POST and the token in the form',
  async run(suite) {
    const { accessToken, claims } = await signIn(suite);
    const form = { access_token: accessToken };
    checkUserinfo(await ask(suite.endpoint('userinfo'), { method: 'POST', form }), claims.sub);
  },
};

export const claimsEssential: RunModule = {
  name: 'oidcc-claims-essential',
  checks: 'a `claims` parameter that asks for `name` does no harm',
  warning: 'the parameter is ignored, and the metadata says so: `name` comes with the scope `profile`',
  async run(suite) {
    expect(suite.metadata.claims_parameter_supported).toBe(false);
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const { userinfo: record } = await signIn(suite, { parameters: { claims } });
    expect(record).not.toHaveProperty('name');
  },
};
