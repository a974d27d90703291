import { describe, expect, it } from 'vitest';
import { loggingOut } from '../support/logging-out.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

describe('the query of a redirect URI', () => {
  it.each([
    'https://app.example/cb?flag',
    'https://app.example/cb?a=b%20c&a=2&next=/x/y',
    'https://app.example/cb?n=%E9&%ff',
    'https://app.example/cb?t=a%3Db%26ep%3Dtest%2540test.me',
    "https://app.example/cb?x=(a'b)",
    'HTTPS://App.example:443?x',
  ])('comes back byte for byte, with a code, an error and after a sign-out: %s', async (uri) => {
    const leaving = await loggingOut();
    const client = await leaving.provider.client({ redirectUris: [uri], postLogoutRedirectUris: [uri] });
    const sent = async (changes: Record<string, string>) => {
      const { headers } = await leaving.provider.follow(
        leaving.provider.browser(),
        leaving.provider.authorizeUrl(client, { state: 'a+b %', ...changes }),
      );
      return headers.get('location') ?? '';
    };
    expect((await sent({})).startsWith(`${uri}&code=`), await sent({})).toBe(true);
    expect(await sent({})).toMatch(/&state=a%2Bb\+%25&iss=[^&]+$/);
    expect((await sent({ scope: 'unknown' })).startsWith(`${uri}&error=invalid_scope&`)).toBe(true);
    const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: uri, state: 's' });
    const stranger = leaving.provider.browser(null);
    const left = await stranger.get(`${leaving.provider.site}/oauth/logout?${query}`);
    expect(left.headers.get('location')).toBe(`${uri}&state=s`);
  });

  it('gives way where it has a parameter of the response', async () => {
    const uri = 'https://app.example/cb?code=own&error=own&%73tate=own&iss=own&error_description=own&x=1';
    const client = await provider.client({ redirectUris: [uri] });
    const callback = await provider.authorize(client);
    expect([...callback.keys()]).toEqual(['x', 'code', 'state', 'iss']);
    expect(callback.get('state')).toBe('a state');
    const refusals = [{ scope: 'unknown' }, { prompt: 'none', max_age: '0' }];
    for (const changes of refusals) {
      const refused = await provider.authorize(client, changes);
      expect([...refused.keys()]).toEqual(['x', 'error', 'error_description', 'state', 'iss']);
      expect(refused.get('error')).not.toBe('own');
    }
  });

  it.each(['?error=access_denied', '?error=access_denied&code=own'])(
    'takes no error from the client if its own %s says the same',
    async (query) => {
      const client = await provider.client({ redirectUris: [`https://app.example/cb${query}`] });
      const url = provider.authorizeUrl(client);
      const { callback } = await provider.follow(provider.browser(), url, 'deny');
      expect([callback.getAll('error'), callback.has('code')]).toEqual([['access_denied'], false]);
      expect((await provider.follow(provider.browser(), url)).outcome).toBe('303 code');
    },
  );
});
