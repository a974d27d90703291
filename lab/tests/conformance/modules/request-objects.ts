import { UnsecuredJWT } from 'jose';
import { expect } from 'vitest';
import { randomText, type Suite } from '../support/suite.ts';
import type { RunModule } from './module.ts';

/** A request whose parameters stand in an unsigned request object; those that OAuth itself requires stand beside it too. */
function withRequestObject(suite: Suite, outside: Record<string, string> = {}): Record<string, string> {
  const { state, nonce, ...required } = suite.request();
  const object = new UnsecuredJWT({ ...required, state, nonce })
    .setIssuer(suite.client.id)
    .setAudience(String(suite.metadata.issuer))
    .encode();
  return { ...required, ...outside, request: object };
}

export const unsignedRequestObject: RunModule = {
  name: 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
  checks: 'a request object is refused with `request_not_supported`, as the metadata says',
  note: 'the original ends as skipped where the provider answers this',
  async run(suite) {
    expect(suite.metadata.request_parameter_supported).toBe(false);
    const { callback } = await suite.newBrowser().visit(suite.requestUrl(withRequestObject(suite)));
    expect(callback?.get('error')).toBe('request_not_supported');
    expect(callback?.get('iss')).toBe(suite.metadata.issuer);
    expect(callback?.has('code')).toBe(false);
  },
};

export const requestObjectWithRedirectUri: RunModule = {
  name: 'oidcc-ensure-request-object-with-redirect-uri',
  checks: 'a wrong redirect URI beside a request object that names a right one leads to an error page',
  note: 'the original asks for a screenshot of the page',
  async run(suite) {
    const request = withRequestObject(suite, { redirect_uri: `${suite.redirectUri}${randomText()}` });
    const { callback, page } = await suite.newBrowser().visit(suite.requestUrl(request));
    expect(callback).toBeNull();
    expect([page.status, page.headers.location]).toEqual([400, undefined]);
    expect(page.text).toContain('redirect_uri_mismatch');
  },
};
