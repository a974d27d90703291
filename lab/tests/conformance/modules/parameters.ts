import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { signIn } from '../support/flow.ts';
import { randomText } from '../support/suite.ts';
import type { RunModule } from './module.ts';

/** A whole sign-in in a fresh browser, which a parameter must not disturb. */
const undisturbedBy = (parameters: Record<string, string>): RunModule['run'] => {
  return async (suite) => {
    const { visit } = await signIn(suite, { parameters });
    expect(visit.logins).toBe(1);
  };
};

export const displayPage: RunModule = {
  name: 'oidcc-display-page',
  checks: '`display=page` does no harm',
  run: undisturbedBy({ display: 'page' }),
};

export const displayPopup: RunModule = {
  name: 'oidcc-display-popup',
  checks: '`display=popup` does no harm',
  run: undisturbedBy({ display: 'popup' }),
};

export const unknownParameter: RunModule = {
  name: 'oidcc-ensure-request-with-unknown-parameter-succeeds',
  checks: 'a parameter that nobody knows is ignored',
  run: undisturbedBy({ extra: 'foobar' }),
};

export const loginHint: RunModule = {
  name: 'oidcc-login-hint',
  checks: '`login_hint` does no harm',
  run: undisturbedBy({ login_hint: 'ana@id.example' }),
};

export const uiLocales: RunModule = {
  name: 'oidcc-ui-locales',
  checks: '`ui_locales` with a language that there is not does no harm',
  run: undisturbedBy({ ui_locales: 'se' }),
};

export const claimsLocales: RunModule = {
  name: 'oidcc-claims-locales',
  checks: '`claims_locales` does no harm',
  run: undisturbedBy({ claims_locales: 'se' }),
};

export const acrValues: RunModule = {
  name: 'oidcc-ensure-request-with-acr-values-succeeds',
  checks: '`acr_values` does no harm',
  warning: 'the ID token has no `acr`: the host signs users in, and the metadata promises no classes',
  async run(suite) {
    expect(suite.metadata).not.toHaveProperty('acr_values_supported');
    const { claims } = await signIn(suite, { parameters: { acr_values: '1 2' } });
    expect(claims).not.toHaveProperty('acr');
  },
};

export const validPkce: RunModule = {
  name: 'oidcc-ensure-request-with-valid-pkce-succeeds',
  checks: 'a client that uses PKCE beside its secret is served',
  async run(suite) {
    const verifier = randomText(32);
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    await signIn(suite, {
      parameters: { code_challenge: challenge, code_challenge_method: 'S256' },
      tokenRequest: { code_verifier: verifier },
    });
  },
};
