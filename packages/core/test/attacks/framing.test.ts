import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const open = (url: string) => provider.browser().get(url);
const authorize = (changes: Record<string, string | undefined>) =>
  open(provider.authorizeUrl(client, changes));

/** HTML pages of sign-in, consent and connected apps, and error pages, by name. */
const pages: Readonly<Record<string, () => Promise<Answer>>> = {
  consent: async () => (await openConsent(provider, client)).answer,
  'connected apps': () => open('/account/apps'),
  'connected apps after a removal': () => open('/account/apps?notice=revoked'),
  'unknown client': () => authorize({ client_id: 'nobody' }),
  'wrong redirect URI': () => authorize({ redirect_uri: 'https://evil.example/' }),
  'missing redirect URI': () => authorize({ redirect_uri: undefined }),
  'expired interaction': () => open('/oauth/interaction/nothing'),
  'expired way back': () => open('/oauth/interaction/nothing/resume'),
  'undecodable interaction': () => open('/oauth/interaction/%ff'),
  'forged form': async () =>
    (await openConsent(provider, client)).approve({ origin: 'https://evil.example' }),
  'wrong method': () => provider.browser().post('/account/apps', {}),
  'unknown address': () => open('/nowhere'),
  async 'too many requests'() {
    const limited = (await startProvider({ limits: { authorizeStarts: 1 } })).browser();
    await limited.get('/oauth/authorize');
    return limited.get('/oauth/authorize');
  },
  async 'storage down'() {
    const down = await startProvider();
    await down.ostiary.close();
    return down.browser().get(down.authorizeUrl(client));
  },
  async 'defect of the host'() {
    const authenticate = () => Promise.reject(new Error('secret detail of the host'));
    const broken = await startProvider({ login: { authenticate, loginUrl: () => '/login' } });
    return broken.browser().get('/account/apps');
  },
};

it.each(Object.entries(pages))(
  'no page can be framed, sniffed, cached or made to run anything %s',
  async (_name, show) => {
    const { headers, text } = await show();
    const styles = text.match(/(?<=<style>)[^<]*(?=<\/style>)/g);
    expect(styles).toHaveLength(1);
    const hash = createHash('sha256').update(String(styles)).digest('base64');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'unsafe-none',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    expect(headers.has('access-control-allow-origin')).toBe(false);
    expect(text).not.toMatch(
      /<script|<iframe|<object|<embed|<base|<meta http-equiv|\son\w+=|\sstyle=|javascript:/i,
    );
    expect(text).not.toContain('secret detail');
    for (const [, address] of text.matchAll(/\s(?:src|href|action)="([^"]*)"/g))
      expect(address).toMatch(new RegExp(`^(${provider.origin}/|/|data:image/)`));
  },
);
