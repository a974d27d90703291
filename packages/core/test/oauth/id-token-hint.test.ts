import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ana, ben } from '../support/directory.ts';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;
let client: TestClient;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
  client = await provider.client();
  await provider.code(client, { scope: 'openid profile' });
});
afterAll(() => provider.stop());

/** What the client gets at once, without any page. */
async function answered(
  parameters: Record<string, string>,
  browser = provider.browser(),
): Promise<URLSearchParams> {
  const answer = await browser.get(provider.authorizeUrl(client, parameters));
  expect(answer.location?.startsWith(client.redirectUri), answer.location ?? answer.text).toBe(true);
  return new URL(answer.location ?? '').searchParams;
}

/** The page of the host's login that the browser is sent to. */
async function loginPage(
  parameters: Record<string, string>,
  browser = provider.browser(),
): Promise<URLSearchParams> {
  const { location } = await provider.follow(browser, provider.authorizeUrl(client, parameters));
  expect(location).toContain('/login?');
  return new URL(location ?? '').searchParams;
}

describe('id_token_hint', () => {
  const idToken = async (of = client, browser = provider.browser()): Promise<string> =>
    String((await provider.exchange(of, await provider.code(of, {}, browser))).json().id_token);

  it('of the user who is signed in changes nothing', async () => {
    const id_token_hint = await idToken();
    expect((await answered({ id_token_hint })).has('code')).toBe(true);
    expect((await answered({ id_token_hint, prompt: 'none' })).has('code')).toBe(true);
  });

  it('counts although it has expired', async () => {
    // The engine reads the machine's clock, so that the token has to be one of two hours ago.
    provider.clock.advance(-7_200_000);
    const id_token_hint = await idToken();
    provider.clock.advance(7_200_000);
    expect((decodeJwt(id_token_hint).exp ?? 0) * 1000).toBeLessThan(Date.now());
    expect((await answered({ id_token_hint, prompt: 'none' })).has('code')).toBe(true);
    expect((await answered({ id_token_hint, prompt: 'none' }, provider.browser(ben.sub))).get('error')).toBe(
      'login_required',
    );
  });

  it('of another user is login_required with prompt=none', async () => {
    const id_token_hint = await idToken();
    expect((await answered({ id_token_hint, prompt: 'none' }, provider.browser(ben.sub))).get('error')).toBe(
      'login_required',
    );
  });

  it('of another user sends to the login, and goes on when the right one signs in', async () => {
    const id_token_hint = await idToken();
    const browser = provider.browser(ben.sub);
    const page = await loginPage({ id_token_hint }, browser);
    expect(page.get('reauthenticate')).toBe('true');
    provider.host.signIn(browser.name, ana.sub, new Date(provider.clock.now() + 1));
    const { location } = await provider.follow(browser, page.get('return_to') ?? '');
    expect(new URL(location ?? '').searchParams.has('code')).toBe(true);
  });

  it('ends with login_required when the wrong user signs in again, rather than going in circles', async () => {
    const id_token_hint = await idToken();
    const browser = provider.browser(ben.sub);
    const page = await loginPage({ id_token_hint }, browser);
    provider.host.signIn(browser.name, ben.sub, new Date(provider.clock.now() + 1));
    const { location } = await provider.follow(browser, page.get('return_to') ?? '');
    const callback = new URL(location ?? '').searchParams;
    expect([callback.get('error'), callback.get('state')]).toEqual(['login_required', 'a state']);
  });

  it('that is garbage, forged, or of another client is invalid_request', async () => {
    const genuine = await idToken();
    const [header = '', payload = '', signature = ''] = genuine.split('.');
    const forged = Buffer.from(
      JSON.stringify({
        ...JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))),
        sub: ben.sub,
      }),
    );
    const hints = [
      'garbage',
      'a.b.c',
      `${header}.${forged.toString('base64url')}.${signature}`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      await idToken(await provider.client()),
    ];
    for (const id_token_hint of hints)
      expect((await answered({ id_token_hint })).get('error')).toBe('invalid_request');
  });

  it('survives a rotation of the signing keys', async () => {
    const id_token_hint = await idToken();
    provider.clock.advance(1);
    await provider.ostiary.admin.signingKeys.rotate({ activateAfterSeconds: 0 });
    expect((await answered({ id_token_hint, prompt: 'none' })).has('code')).toBe(true);
  });
});
