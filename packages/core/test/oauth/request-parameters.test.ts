import { describe, expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client({ allowedScopes: ['openid', 'profile'] });

it('an authorization request that is posted as a form is redirected to a GET with the same parameters', async () => {
  const browser = provider.browser();
  const url = new URL(provider.authorizeUrl(client, { state: 'ä & b' }));
  const answer = await browser.post(url.origin + url.pathname, Object.fromEntries(url.searchParams));
  expect(answer.status).toBe(303);
  const { callback } = await provider.follow(browser, answer.location ?? '');
  expect([callback.get('state'), callback.has('code')]).toEqual(['ä & b', true]);
  const json = await provider.call('/oauth/authorize', { client_id: client.id });
  expect(json.outcome).toBe('415 invalid_request');
});

describe('a posted authorization request', () => {
  const url = new URL(provider.authorizeUrl(client));
  const endpoint = url.origin + url.pathname;
  const post = (parameters: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
    const body = `${url.searchParams}&${parameters}`;
    return provider.request('/oauth/authorize', { method: 'POST', headers, body });
  };

  it('omits unknown parameters, even if they are long, repeated or malformed', async () => {
    const browser = provider.browser();
    for (const ignored of [`audience=${'x'.repeat(40_000)}`, 'resource=a&resource=b', 'x=%ff', '%ff=x']) {
      const { location } = await post(ignored);
      expect(location?.startsWith(`${endpoint}?`)).toBe(true);
      expect(Object.fromEntries(new URL(location ?? '').searchParams)).toEqual(
        Object.fromEntries(url.searchParams),
      );
      expect((await provider.follow(browser, location ?? '')).outcome).toBe('303 code');
    }
  });

  it('sends the client errors at once, also for parameters too long for a URL', async () => {
    const atOnce = await post('scope=kyc');
    expect([atOnce.outcome, atOnce.callback.get('state')]).toEqual(['303 invalid_request', 'a state']);
    const long = await post(`nonce=${'n'.repeat(4096)}&id_token_hint=${'x'.repeat(8192)}`);
    expect(long.outcome).toBe('303 invalid_request');
    expect(long.callback.get('error_description')).toBe('The parameters are too long together.');
  });
});
