import { unescape as decoded } from 'node:querystring';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';
import { listed, rawGet, sendRaw } from './raw.ts';

/** Registered redirect URIs of a web client, and of an app on the user's device. */
const web = 'https://app.example/callback';
const loopback = 'http://127.0.0.1:8765/callback';

/** Variants of a redirect URI, as they are written in the query of a request. */
const tricks = [...listed('redirect-uris.txt'), ['very long', `${web}${'a'.repeat(8000)}`]] as const;

describe('redirect URIs that are not registered', async () => {
  const provider = await startProvider();
  const client = await provider.client({ redirectUris: [web] });
  const local = await provider.client({ redirectUris: [loopback] });

  const target = (client: TestClient, redirect: string): string =>
    `/oauth/authorize?response_type=code&client_id=${client.id}&scope=openid&state=s${redirect}`;

  const refusal = /^400 (redirect_uri_mismatch|invalid_request)$/;

  /** Expects an error page for browsers, JSON for programs, and no redirect in either case. */
  async function expectRefusal(path: string): Promise<void> {
    const browser = provider.browser();
    const page = await browser.get(path);
    expect([page.outcome, page.location]).toEqual([expect.stringMatching(refusal), null]);
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const program = await browser.get(path, { accept: 'application/json' });
    expect([program.outcome, program.location]).toEqual([page.outcome, null]);
  }

  describe.each([
    ['https client', client],
    ['loopback client', local],
  ])('at the authorization endpoint, %s', (_kind, client) => {
    const good = `redirect_uri=${encodeURIComponent(client.redirectUri)}`;

    it.each(tricks)('refuses: %s', async (_name, text) => {
      await expectRefusal(target(client, `&redirect_uri=${text}`));
    });

    it('refuses a repeated parameter in any order and spelling', async () => {
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

    it('takes the registered one, under its name, and refuses it when it is missing or empty', async () => {
      expect(await provider.code(client)).toMatch(/^[\w-]{43}$/);
      for (const name of [
        'redirect_uri[]',
        'redirect_uri[0]',
        'Redirect_Uri',
        'redirect_uri%00',
        'redirectUri',
      ])
        await expectRefusal(target(client, `&${good.replace('redirect_uri', name)}`));
      for (const nothing of ['', '&redirect_uri=', '&redirect_uri'])
        await expectRefusal(target(client, nothing));
    });
  });

  it('does not redirect to another client’s', async () => {
    await expectRefusal(target(client, `&redirect_uri=${encodeURIComponent(loopback)}`));
  });

  it('at the token endpoint are refused and leave the code as it is', async () => {
    const { code, verifier: code_verifier } = await provider.boundCode(client);
    for (const [name, text] of [...tricks, ['another client’s', loopback] as const]) {
      const answer = await provider.redeem(client, code, { code_verifier, redirect_uri: decoded(text) });
      expect.soft(answer, name).toMatch(refusal);
    }
    expect(await provider.redeem(client, code, { code_verifier })).toBe('200 ok');
  });

  describe('the redirect itself', () => {
    const payloads = [
      'a\r\nSet-Cookie: planted=1',
      'a\nLocation: https://evil.example/',
      '\r\n\r\n<script>',
      '\u2028é\u{1F600}',
      '%0d%0a',
      ' spaces  kept ',
      'a+b%20c&d=e#f',
      `"<script>' ünï 🙂 中文`,
      '&code=evil&iss=evil#',
    ];

    it.each(payloads)('carries the state %j as data only, and repeats no scope', async (state) => {
      expect((await provider.authorize(client, { state })).get('state')).toBe(state);
      for (const [scope, error] of [
        ['openid', 'login_required'],
        [state, 'invalid_scope'],
        [`openid ${state}`, 'invalid_scope'],
      ] as const) {
        const url = provider.authorizeUrl(client, { state, scope, prompt: 'none' });
        const host = `Host: ${new URL(provider.origin).host}`;
        const answer = await sendRaw(provider.origin, rawGet(url.slice(provider.origin.length), [host]));
        expect(answer.status).toBe(303);
        expect(answer.values('set-cookie')).toEqual([]);
        const [location = '', ...more] = answer.values('location');
        expect(more).toEqual([]);
        expect(location).toMatch(/^https:\/\/app\.example\/callback\?[\x21-\x7E]+$/);
        const parameters = new URL(location).searchParams;
        expect(Object.fromEntries(parameters)).toMatchObject({ error, state, iss: provider.origin });
        expect(parameters.getAll('code')).toEqual([]);
        // Characters of RFC 6749, section 4.1.2.1.
        expect(parameters.get('error_description')).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
      }
    });
  });
});
