import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';
import { rawGet, sendRaw } from './raw.ts';

/** Texts that would do harm if they reached a page, a header or a log line unescaped. */
const payloads = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></style><script src=//evil.example></script>',
  '<!--',
  ']]>',
  '&lt;script&gt;',
  '{{constructor.constructor("alert(1)")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a payload for template languages
  '${7*7}<%= 7*7 %>#{7*7}',
  '\u202Egnp.exe\u202C',
  '\u2066\u2067isolated\u2069',
  '\u200B\u2060\uFEFFhidden',
  'a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301z',
  '\u2028\u2029\u0085',
  'Robert\u0007\u001B[31m',
  '=cmd|calc',
];

const elements =
  /^(!doctype|html|head|meta|title|link|body|header|main|div|section|svg|rect|text|path|circle|p|bdi|h1|h2|span|strong|a|ul|li|form|input|button|time|code|details|summary|img|nav|label)$/;

/**
 * Checks a page with untrusted text: all markup is of the kind that Ostiary's pages contain, and no character
 * hides or reverses text.
 */
function expectHarmless(page: string): void {
  const rest = page
    .replace(/<style>[^<]*<\/style>/, '')
    .replace(
      /<\/?([!a-z0-9]+)((?:\s+[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*\/?>/g,
      (_tag, name: string, attributes: string) => {
        expect(name).toMatch(elements);
        expect(attributes.replaceAll(/="[^"]*"/g, '')).not.toMatch(/\s(on\w+|style|srcdoc)\b/i);
        expect(attributes).not.toMatch(/\s(src|href|action)="(?!https?:|\/(?!\/)|data:image\/)/i);
        return '';
      },
    );
  expect(rest).not.toMatch(/[<>]/);
  expect(page).not.toMatch(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\u200B\u2060-\u206F\uFEFF]/u);
}

describe('texts from outside', async () => {
  const provider = await startProvider();
  const client = await provider.client();

  function expectHtml(answer: Answer): void {
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expectHarmless(answer.text);
  }

  it('the check itself notices markup', () => {
    const active = ['<p title="" onclick=alert(1)>', '<p title="" onclick="alert(1)">', '<object>'];
    for (const markup of [...payloads.slice(0, 2), ...active, '<a href="javascript:alert(1)">', '\u202E'])
      expect(() => expectHarmless(`<p>${markup}</p>`)).toThrow();
  });

  it.each(payloads)('as a client’s and a user’s name are only shown: %j', async (name) => {
    const storage = memoryStorage();
    const own = await startProvider({ storage });
    own.host.people.set(ana.sub, { ...ana, name });
    const named = await own.client();
    // Store the name as in a database from before names were checked.
    const record = await storage.clients.find(named.id);
    if (record === null) throw new Error('no client');
    await storage.clients.replace({ ...record, name: `${name}x`, version: record.version + 1 });
    const page = await openConsent(own, named, { scope: 'openid profile' });
    expectHtml(page.answer);
    await page.finish();
    for (const notice of ['', 'revoked', encodeURIComponent(name)])
      expectHtml(await page.browser.get(`/account/apps?notice=${notice}`));
  });

  it.each(payloads)('in any parameter reach no page and no header: %j', async (payload) => {
    const kept =
      'state nonce login_hint id_token_hint ui_locales acr_values code_challenge code_challenge_method';
    const read = 'client_id redirect_uri scope prompt max_age response_mode response_type';
    const others = 'request request_uri registration claims display anything __proto__ constructor';
    for (const parameter of `${kept} ${read} ${others}`.split(' ')) {
      // JSON treats all payloads alike, so one of them suffices.
      for (const accept of payload === payloads[0] ? ['text/html', 'application/json'] : ['text/html']) {
        const url = provider.authorizeUrl(client, { [parameter]: payload });
        const answer = await provider.browser().get(url, { accept });
        expect.soft([parameter, answer.status < 500], answer.text).toEqual([parameter, true]);
        if (answer.status === 303) expect(answer.location).toMatch(/^[\x21-\x7E]+$/);
        else if (accept === 'text/html') expectHtml(answer);
        else expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      }
    }
  });

  it.each(payloads)('that the interaction keeps do not show on its page: %j', async (payload) => {
    const kept = { state: payload, nonce: payload, login_hint: payload, ui_locales: payload };
    expectHtml((await openConsent(provider, client, kept)).answer);
    expect(await provider.attempt(client, kept, provider.browser(null))).toBe('interaction');
  });

  it('reach the host’s login as separate parameters, and the return URL is Ostiary’s', async () => {
    const hint = 'x&return_to=https://evil.example/&reauthenticate=false#';
    const browser = provider.browser(null);
    const sent = { login_hint: hint, ui_locales: hint, acr_values: hint };
    const page = await browser.get(provider.authorizeUrl(client, sent));
    const { callback } = await browser.get(page.location ?? '');
    expect(callback.getAll('return_to').map((url) => url.split('?')[0])).toEqual([page.location]);
    for (const name of ['login_hint', 'acr_values']) expect(callback.get(name)).toBe(hint);
    expect(callback.getAll('reauthenticate')).toEqual(['false']);
  });

  it('in a path are not repeated', async () => {
    const interactions = ['%3Cscript%3E', '%', '%00', '%ff', 'a%2Fb', '..%2f..%2faccount'];
    const others = [
      '/<script>',
      '/%3Cscript%3E',
      '/oauth/interaction/%22%3E/resume',
      '/oauth/interaction/%2e%2e/resume',
    ];
    const paths = [...others, ...interactions.map((id) => `/oauth/interaction/${id}`)];
    for (const path of [...paths, '/account/apps/%3Cb%3E/revoke']) {
      const answer = await sendRaw(provider.origin, rawGet(path, ['Accept: text/html']));
      expect.soft([400, 404, 405], path).toContain(answer.status);
      expect.soft(answer.body, path).not.toMatch(/<script>|%3Cscript|<b>/);
    }
  });

  it('in API requests come back as JSON that no browser reads as a page', async () => {
    for (const payload of payloads) {
      const sent = { code: payload, redirect_uri: payload, client_id: payload };
      const bodies = [
        { grant_type: payload },
        { grant_type: 'authorization_code', ...sent },
        { grant_type: 'authorization_code', ...sent, client_id: client.id, client_secret: payload },
        { [payload]: 1 },
      ];
      for (const body of bodies) {
        for (const path of ['/v1/oauth/token', '/v1/oauth/revoke']) {
          const answer = await provider.call(path, body, { accept: 'text/html' });
          expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
          expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
          expect([answer.status < 500, answer.text]).toEqual([
            true,
            expect.not.stringMatching(/<script|<img|onerror/),
          ]);
          expect(Object.keys(answer.json()).join()).toMatch(/^(error,error_description|ok)$/);
        }
      }
    }
  });

  it('that are wrong in a bearer token are refused without being repeated', async () => {
    const bent = ['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(43)}\t`, '\u00e9'].map(
      (rest) => `svc_at_${rest}`,
    );
    for (const token of [...bent, '"', '\\', 'a", error="x', 'x'.repeat(8000), '../../etc']) {
      const request = rawGet('/v1/oauth/userinfo', [`Authorization: Bearer ${token}`]);
      const answer = await sendRaw(provider.origin, request);
      expect(answer.status).toBe(401);
      expect(answer.values('www-authenticate')).toEqual([
        'Bearer error="invalid_token", error_description="The access token is invalid."',
      ]);
    }
  });

  it('no log line holds what callers sent, but for a redirect URI that is not registered, escaped', () => {
    expect(provider.errors).toEqual([]);
    const addresses: string[] = [];
    for (const { message, fields } of provider.logged) {
      const { redirectUri = '', ...others } = { ...fields } as { redirectUri?: string };
      addresses.push(redirectUri);
      expect(JSON.stringify([message, others])).not.toMatch(/script|onerror|alert/);
    }
    expect(addresses.join()).toContain('alert(1)');
    // In the log, payloads are escaped so that they are neither markup, nor a colour, nor a new line.
    for (const address of addresses)
      expect(address).toMatch(/^(?:[\w.~:/?#[\]@!$&()*+,;=%-]|\\u[0-9a-f]{4}){0,300}$/);
  });
});
