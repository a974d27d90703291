import { expect } from 'vitest';
import { signIn } from '../support/flow.ts';
import { needsScopes, type RunModule } from './module.ts';

export const scopeProfile: RunModule = {
  name: 'oidcc-scope-profile',
  checks: 'the scope `profile` adds to userinfo, and claims have their standard types',
  warning: 'of the standard claims of `profile` there is `name`; the others are not kept',
  async run(suite) {
    expect(suite.metadata.scopes_supported).toContain('profile');
    const { userinfo } = await signIn(suite, { parameters: { scope: 'openid profile' } });
    expect(userinfo).toMatchObject({ name: expect.any(String), handle: expect.any(String) });
    expect(userinfo).not.toHaveProperty('given_name');
  },
};

export const scopeEmail = needsScopes('oidcc-scope-email', ['email']);
export const scopeAddress = needsScopes('oidcc-scope-address', ['address']);
export const scopePhone = needsScopes('oidcc-scope-phone', ['phone']);
export const scopeAll = needsScopes('oidcc-scope-all', ['email', 'phone', 'address']);

export const otherScopeOrder: RunModule = {
  name: 'oidcc-ensure-other-scope-order-succeeds',
  checks: 'the order of scopes does not matter',
  note: 'the original reverses `openid email`, and skips where there is no `email`; here `profile` takes its place',
  async run(suite) {
    const { tokens, userinfo } = await signIn(suite, { parameters: { scope: 'profile openid' } });
    expect(String(tokens.scope).split(' ').toSorted()).toEqual(['openid', 'profile']);
    expect(userinfo).toHaveProperty('name');
  },
};
