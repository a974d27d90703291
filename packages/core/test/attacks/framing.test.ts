import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { type TestClient, TestProvider } from '../support/provider.ts';
import { approve, openConsent } from './flow-steps.ts';

/** Every page that a browser can be shown. */
const pages: Readonly<Record<string, (provider: TestProvider, client: TestClient) => Promise<Answer>>> = {
  consent: async (provider, client) => (await openConsent(provider, provider.browser(), client)).answer,
  'connected apps': (provider) => provider.browser().get('/account/apps'),
  'connected apps after a removal': (provider) => provider.browser().get('/account/apps?notice=revoked'),
  'unknown client': (provider, client) =>
    provider.browser().get(provider.authorizeUrl({ ...client, id: 'nobody' })),
  'wrong redirect URI': (provider, client) =>
    provider.browser().get(provider.authorizeUrl(client, { redirect_uri: 'https://evil.example/' })),
  'missing redirect URI': (provider, client) =>
    provider.browser().get(provider.authorizeUrl(client, { redirect_uri: undefined })),
  'expired interaction': (provider) => provider.browser().get('/oauth/interaction/nothing'),
  'expired way back': (provider) => provider.browser().get('/oauth/authorize/nothing'),
  'undecodable interaction': (provider) => provider.browser().get('/oauth/interaction/%ff'),
  'forged form': async (provider, client) => {
    const browser = provider.browser();
    return approve(browser, await openConsent(provider, browser, client), { origin: 'https://evil.example' });
  },
  'wrong method': (provider) => provider.browser().post('/account/apps', {}),
  'unknown address': (provider) => provider.browser().get('/nowhere'),
  'too many requests': async (_provider) => {
    const limited = await TestProvider.start({ limits: { authorizeStarts: 1 } });
    await limited.browser().get('/oauth/authorize');
    const answer = await limited.browser().get('/oauth/authorize');
    await limited.stop();
    return answer;
  },
  'storage down': async (_provider, client) => {
    const down = await TestProvider.start();
    await down.ostiary.close();
    const answer = await down.browser().get(down.authorizeUrl(client));
    await down.stop();
    return answer;
  },
  'defect of the host': async (_provider) => {
    const host = {
      authenticate: () => {
        throw new Error('secret detail of the host');
      },
      loginUrl: () => '/login',
    };
    const broken = await TestProvider.start({ login: host });
    const answer = await broken.browser().get('/account/apps');
    await broken.stop();
    return answer;
  },
};

describe('no page can be framed, sniffed, cached or made to run anything', () => {
  let provider: TestProvider;
  let client: TestClient;
  beforeAll(async () => {
    provider = await TestProvider.start();
    client = await provider.client();
  });
  afterAll(() => provider.stop());

  it.each(Object.entries(pages))('%s', async (_name, open) => {
    const { headers, text } = await open(provider, client);
    const [style, ...more] = [...text.matchAll(/<style>([^<]*)<\/style>/g)].map(([, css = '']) => css);
    expect(more).toEqual([]);
    const hash = createHash('sha256')
      .update(style ?? '')
      .digest('base64');
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    expect(headers.has('access-control-allow-origin')).toBe(false);
    expect(text).not.toMatch(
      /<script|<iframe|<object|<embed|<base|<meta http-equiv|\son\w+=|\sstyle=|javascript:/i,
    );
    expect(text).not.toContain('secret detail');
    const addresses = [...text.matchAll(/\s(?:src|href|action)="([^"]*)"/g)].map(
      ([, address = '']) => address,
    );
    for (const address of addresses)
      expect(address).toMatch(new RegExp(`^(${provider.origin}/|/|data:image/)`));
  });
});
