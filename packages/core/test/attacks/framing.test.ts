import { createHash } from 'node:crypto';
import { operatorsConsole, sandboxConsole } from '@ostiary/console';
import { expect, it } from 'vitest';
import { shop } from '../partner/webhook-shop.ts';
import type { Answer, TestBrowser } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { answer, loggingOut } from '../support/logging-out.ts';
import { payment } from '../support/partner-api.ts';
import { startProvider } from '../support/running.ts';

const { provider, client, hint, logout } = await loggingOut();
const open = (url: string) => provider.browser().get(url);
const authorize = (changes: Record<string, string | undefined>) =>
  open(provider.authorizeUrl(client, changes));

/** HTML pages of sign-in, consent, connected apps and sign-out, and error pages, by name. */
const pages: Readonly<Record<string, () => Promise<Answer>>> = {
  consent: async () => (await openConsent(provider, await provider.client())).answer,
  'connected apps': () => open('/account/apps'),
  'connected apps after a removal': () => open('/account/apps?notice=revoked'),
  'sign-out question': () => logout({}),
  'sign-out question of an app': () => logout({ client_id: client.id }),
  'end of a sign-out': async () => {
    const browser = provider.browser();
    const page = await answer(await logout({}, browser), 'leave', browser);
    return page.location === null ? page : browser.get(page.location);
  },
  'end of a sign-out by an app': async () => {
    const browser = provider.browser();
    const page = await logout({ id_token_hint: hint }, browser);
    return page.location === null ? page : browser.get(page.location);
  },
  'refused sign-out': () => logout({ client_id: 'nobody' }),
  'forged sign-out': async () => {
    const browser = provider.browser();
    return answer(await logout({}, browser), 'leave', browser, { csrf: '' });
  },
  'unknown client': () => authorize({ client_id: 'nobody' }),
  'wrong redirect URI': () => authorize({ redirect_uri: 'https://evil.example/' }),
  'missing redirect URI': () => authorize({ redirect_uri: undefined }),
  'expired interaction': () => open('/oauth/interaction/nothing'),
  'expired way back': () => open('/oauth/interaction/nothing/resume'),
  'undecodable interaction': () => open('/oauth/interaction/%ff'),
  'forged form': async () =>
    (await openConsent(provider, await provider.client())).approve({ origin: 'https://evil.example' }),
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

const csrfOf = ({ text }: Answer): string => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** Starts a provider with both consoles, an endpoint and an event in each mode, and a payment. */
async function consoles() {
  const { provider, key, call, register, trigger, work } = await shop({
    console: sandboxConsole(),
    operators: { authenticate: () => ({ name: 'olga' }), pages: operatorsConsole() },
  });
  await register();
  await trigger();
  const live = await provider.key({ partner: key.partner, mode: 'live' });
  await register(undefined, { events: ['*'] }, live);
  await call('POST /v1/partner/payments', payment, live);
  await work();
  await provider.client({ partner: key.partner });
  return { provider, key };
}

/**
 * Opens the page at a path and, by their links, the pages below it: one of each kind, which has no other ids and
 * values of parameters. Returns them by path.
 */
async function everyPage(browser: TestBrowser, path: string): Promise<Map<string, Answer>> {
  const found = new Map<string, Answer>();
  const kinds = new Set<string>();
  const waiting = [path];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const page = await browser.get(next);
    found.set(next, page);
    for (const [, link = ''] of page.text.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) {
      const { pathname, search } = new URL(link.replaceAll('&amp;', '&'), browser.origin + next);
      const names = [...new URLSearchParams(search).keys()].toSorted();
      const kind = [pathname.replaceAll(/\/[^/]*[\d_][^/]*/g, '/:id'), ...names].join(' ');
      if (!pathname.startsWith(`${path}/`) && pathname !== path) continue;
      if (!kinds.has(kind)) waiting.push(pathname + search);
      kinds.add(kind);
    }
  }
  return found;
}

it('no page of a console can be framed, sniffed, cached or made to run anything but its own script', async () => {
  const { provider, key } = await consoles();
  const sandbox = provider.browser(null);
  const portal = provider.browser(null);
  const operators = provider.browser(null);
  const signInPage = await sandbox.get('/sandbox');
  await sandbox.post('/sandbox/sign-in', { csrf: csrfOf(signInPage), key: key.key });
  const portalEnded = await portal.get('/portal');
  const { url } = await provider.ostiary.admin.portal.link({ partner: key.partner, rights: 'manage' });
  const { pathname } = new URL(url);
  const linkPage = await portal.get(pathname);
  await portal.post(pathname, { csrf: csrfOf(linkPage) });
  const pagesByName = new Map([
    ['sign-in', signInPage],
    ['portal without a session', portalEnded],
    ['link to the portal', linkPage],
    ['unknown page', await operators.get('/operators/nowhere')],
    ['forged form', await operators.post('/operators/partners', {})],
  ]);
  for (const [path, browser] of [
    ['/sandbox', sandbox],
    ['/portal', portal],
    ['/operators', operators],
  ] as const) {
    const found = await everyPage(browser, path);
    expect(found.size).toBeGreaterThan(10);
    for (const [name, page] of found) pagesByName.set(name, page);
  }
  // The rest are files: a button, and payments.
  const shown = [...pagesByName].filter(([, { headers }]) =>
    headers.get('content-type')?.startsWith('text/html'),
  );
  expect(shown.length).toBeGreaterThan(pagesByName.size - 5);
  const own = `${provider.origin}/[\\w/.-]+`;
  const policy = new RegExp(
    `^default-src 'none'; (?:script-src ${own}; (?:connect-src 'self'; )?)?style-src (?:'sha256-[\\w+/=]+'|${own}); img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'$`,
  );
  const active =
    /<script(?! src="http:\/\/127\.0\.0\.1:)|<iframe|<object|<embed|<base|<meta http-equiv|\son\w+=|\sstyle=|javascript:/gi;
  for (const [name, { headers, text }] of shown) {
    expect.soft(Object.fromEntries(headers), name).toMatchObject({
      'content-security-policy': expect.stringMatching(policy),
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // The path of a link to the portal is secret.
      'referrer-policy': name === 'link to the portal' ? 'strict-origin' : 'same-origin',
      'cross-origin-opener-policy': expect.stringMatching(/^(?:same-origin|unsafe-none)$/),
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });
    expect.soft(headers.has('access-control-allow-origin'), name).toBe(false);
    expect.soft(text.match(active), name).toBeNull();
  }
});
