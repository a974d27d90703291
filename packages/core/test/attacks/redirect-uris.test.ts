import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pkce, type TestClient, TestProvider } from '../support/provider.ts';
import { rawGet, sendRaw } from './raw.ts';
import { loopback, tricks, web } from './redirect-uri-tricks.ts';

describe('redirect URIs that are not registered', () => {
  let provider: TestProvider;
  let clients: { readonly [kind: string]: TestClient };
  beforeAll(async () => {
    provider = await TestProvider.start({ limits: { authorizeStarts: 100_000 } });
    clients = {
      'https client': await provider.client({ redirectUris: [web] }),
      'loopback client': await provider.client({ redirectUris: [loopback] }),
    };
  });
  afterAll(() => provider.stop());

  const target = (client: TestClient, redirect: string): string =>
    `/oauth/authorize?response_type=code&client_id=${client.id}&scope=openid&state=s${redirect}`;

  /** A page for browsers, JSON for programs, and no redirect for anybody. */
  async function expectRefusal(path: string): Promise<void> {
    const browser = provider.browser();
    const page = await browser.get(path);
    expect(page.status).toBe(400);
    expect(page.location).toBeNull();
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toMatch(/redirect_uri_mismatch:|invalid_request:/);
    const program = await browser.get(path, { accept: 'application/json' });
    expect(program.status).toBe(400);
    expect(program.location).toBeNull();
    expect(['redirect_uri_mismatch', 'invalid_request']).toContain(program.json().error);
  }

  describe.each(['https client', 'loopback client'])('at the authorization endpoint, %s', (kind) => {
    it('takes the registered one', async () => {
      const client = clients[kind] as TestClient;
      expect((await provider.authorize(client)).get('code')).toMatch(/^[\w-]{43}$/);
    });

    it.each(Object.entries(tricks))('refuses: %s', async (_name, text) => {
      await expectRefusal(target(clients[kind] as TestClient, `&redirect_uri=${text}`));
    });

    it('refuses the parameter twice, in whatever order and spelling', async () => {
      const client = clients[kind] as TestClient;
      const good = `redirect_uri=${encodeURIComponent(client.redirectUri)}`;
      const evil = 'redirect_uri=https://evil.example/callback';
      for (const [first, second] of [
        [good, evil],
        [evil, good],
        [good, good],
        [good, evil.replace('redirect', '%72edirect')],
        [evil.replace('_uri', '%5Furi'), good],
      ]) {
        await expectRefusal(target(client, `&${first}&${second}`));
      }
    });

    it('knows no other spelling of the parameter', async () => {
      const client = clients[kind] as TestClient;
      for (const name of [
        'redirect_uri[]',
        'redirect_uri[0]',
        'Redirect_Uri',
        'redirect_uri%00',
        'redirectUri',
      ]) {
        await expectRefusal(target(client, `&${name}=${encodeURIComponent(client.redirectUri)}`));
      }
    });

    it('refuses it when it is missing or empty, although only one is registered', async () => {
      await expectRefusal(target(clients[kind] as TestClient, ''));
      await expectRefusal(target(clients[kind] as TestClient, '&redirect_uri='));
      await expectRefusal(target(clients[kind] as TestClient, '&redirect_uri'));
    });

    it('refuses the same in a form', async () => {
      const client = clients[kind] as TestClient;
      const form = {
        response_type: 'code',
        client_id: client.id,
        scope: 'openid',
        redirect_uri: 'https://evil.example/',
      };
      const { location } = await provider.browser().post('/oauth/authorize', form);
      expect(location?.startsWith(`${provider.origin}/oauth/authorize?`)).toBe(true);
      await expectRefusal(location ?? '');
    });
  });

  it('does not redirect to another client’s', async () => {
    const [first, second] = Object.values(clients) as [TestClient, TestClient];
    await expectRefusal(target(first, `&redirect_uri=${encodeURIComponent(second.redirectUri)}`));
  });

  it('never redirects for an unknown client', async () => {
    const stranger = { id: 'stranger', secret: null, redirectUri: web };
    for (const id of ['stranger', '', 'a%00', '__proto__', 'constructor', "' OR 1=1--", 'a'.repeat(300)]) {
      const path = target({ ...stranger, id }, `&redirect_uri=${encodeURIComponent(web)}`);
      const { status, location } = await provider.browser().get(path);
      expect([400, 401]).toContain(status);
      expect(location).toBeNull();
    }
  });

  it.each([' ', '\t', '\u0000', '\u0001', '\u00ff'])(
    'takes no raw %j in the request target',
    async (character) => {
      const client = clients['https client'] as TestClient;
      const answer = await sendRaw(
        provider.origin,
        rawGet(target(client, `&redirect_uri=${web}${character}x`)),
      );
      expect(answer.status).toBe(400);
      expect(answer.values('location')).toEqual([]);
    },
  );

  describe('at the token endpoint', () => {
    it('are refused and leave the code as it is', async () => {
      const client = clients['https client'] as TestClient;
      const { verifier, challenge } = pkce();
      const bound = { code_challenge: challenge, code_challenge_method: 'S256' };
      const code = await provider.code(client, bound);
      for (const [name, text] of Object.entries({ ...tricks, 'another client’s': loopback })) {
        let redirectUri = text;
        try {
          redirectUri = decodeURIComponent(text);
        } catch {
          // Sent as it is.
        }
        const answer = await provider.exchange(client, code, {
          code_verifier: verifier,
          redirect_uri: redirectUri,
        });
        expect.soft([name, answer.status]).toEqual([name, 400]);
        expect.soft(['redirect_uri_mismatch', 'invalid_request'], name).toContain(answer.json().error);
      }
      expect((await provider.exchange(client, code, { code_verifier: verifier })).status).toBe(200);
    });

    it('are refused twice in a form', async () => {
      const client = clients['https client'] as TestClient;
      const code = await provider.code(client);
      const fields = {
        grant_type: 'authorization_code',
        code,
        client_id: client.id,
        client_secret: client.secret ?? '',
      };
      for (const uris of [
        [web, 'https://evil.example/'],
        ['https://evil.example/', web],
        [web, web],
      ]) {
        const form = new URLSearchParams(fields);
        for (const uri of uris) form.append('redirect_uri', uri);
        const answer = await provider.call('/v1/oauth/token', form);
        expect(answer.status).toBe(400);
        expect(answer.json().error).toBe('invalid_request');
      }
      expect((await provider.exchange(client, code)).status).toBe(200);
    });
  });

  describe('the redirect itself', () => {
    const payloads = [
      'a\r\nSet-Cookie: planted=1',
      'a\nLocation: https://evil.example/',
      '\r\n\r\n<script>',
      '\u2028é\u{1F600}',
      '%0d%0a',
      '&code=evil&iss=evil#',
    ];

    it.each(payloads)('carries the state %j as data only', async (state) => {
      const client = clients['https client'] as TestClient;
      expect((await provider.authorize(client, { state })).get('state')).toBe(state);
      for (const [scope, error] of [
        ['openid', 'login_required'],
        ['nonsense', 'invalid_scope'],
      ] as const) {
        const url = provider.authorizeUrl(client, { state, scope, prompt: 'none' });
        const answer = await sendRaw(provider.origin, rawGet(url.slice(provider.origin.length)));
        expect(answer.status).toBe(303);
        expect(answer.values('set-cookie')).toEqual([]);
        const [location = '', ...more] = answer.values('location');
        expect(more).toEqual([]);
        expect(location).toMatch(/^https:\/\/app\.example\/callback\?[\x21-\x7E]+$/);
        const parameters = new URL(location).searchParams;
        expect(Object.fromEntries(parameters)).toMatchObject({ error, state, iss: provider.origin });
        expect(parameters.getAll('code')).toEqual([]);
      }
    });

    it.each([...payloads, 'openid <img src=x onerror=alert(1)>', 'a"b\\c'])(
      'describes the scope %j without repeating it',
      async (scope) => {
        const client = clients['https client'] as TestClient;
        const { location, headers } = await provider.browser().get(provider.authorizeUrl(client, { scope }));
        const parameters = new URL(location ?? '').searchParams;
        expect(parameters.get('error')).toBe('invalid_scope');
        // The characters of RFC 6749, section 4.1.2.1.
        expect(parameters.get('error_description')).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
        expect(headers.getSetCookie()).toEqual([]);
      },
    );
  });
});
