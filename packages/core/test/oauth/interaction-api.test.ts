import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { OAuthError, type OstiaryOptions, scopes } from '../../src/index.ts';
import { ana, ben } from '../support/directory.ts';
import type { TestClient, TestProvider } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

/** Starts a provider whose host renders the consent page itself, as JSON, so that a test can read it. */
async function start(options: Partial<OstiaryOptions> = {}) {
  const provider = await startProvider({ interactionUrl: (id) => `/consent/${id}`, ...options });
  const { interactions } = provider.ostiary;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const redirect = (to: string) => response.writeHead(303, { location: to }).end();
    try {
      if (request.method === 'POST') {
        const form = new URLSearchParams(await text(request));
        const decide = form.get('decision') === 'approve' ? interactions.approve : interactions.deny;
        return redirect((await decide(request, { csrfToken: form.get('csrf') ?? '' })).redirectTo);
      }
      const details = await interactions.details(request);
      if ('redirectTo' in details) return redirect(details.redirectTo);
      return response.end(JSON.stringify(details));
    } catch (error) {
      return response.writeHead(error instanceof OAuthError ? error.status : 599).end(String(error));
    }
  };
  provider.host.pages = (request, response) => void answer(request, response);
  return { provider, client: await provider.client({ name: 'The app' }) };
}

/** Starts an authorization request and follows it to the host application's own consent page. */
async function open(
  provider: TestProvider,
  client: TestClient,
  changes: Record<string, string> = {},
  browser = provider.browser(),
) {
  const { location: interaction } = await browser.get(provider.authorizeUrl(client, changes));
  const address = (await browser.get(interaction ?? '')).location ?? '';
  const shown = await browser.get(address);
  const csrf = String(shown.json().csrfToken);
  const post = (changed: Record<string, string> = {}, headers: Record<string, string> = {}, by = browser) =>
    by.post(address, { decision: 'approve', csrf, ...changed }, headers);
  /** Sends the decision on the host application's consent page, and follows the redirect to the client. */
  const finish = async (decision: string) => browser.get((await post({ decision })).location ?? '');
  return { browser, address, interaction, shown: shown.json(), post, finish };
}

/** State of a scope that the user was never asked about. */
const unasked = { isNew: true, isOptional: false, isDeclined: false };

describe('a consent page of the host', () => {
  it('is where the browser is sent, and gets the data to show', async () => {
    const { provider, client } = await start();
    const asked = { scope: 'openid kyc', ui_locales: 'fr en' };
    const { address, interaction, shown } = await open(provider, client, asked);
    const id = interaction?.split('/').at(-1);
    expect(address).toBe(`${provider.origin}/consent/${id}`);
    expect(shown).toEqual({
      interactionId: id,
      client: { clientId: client.id, name: 'The app' },
      sub: ana.sub,
      redirectUri: client.redirectUri,
      scopes: [
        { name: 'openid', ...unasked, texts: scopes.openid.consent },
        { name: 'kyc', ...unasked, texts: scopes.kyc.consent },
      ],
      uiLocales: ['fr', 'en'],
      csrfToken: expect.stringMatching(/./),
      switchAccountUrl: expect.stringContaining('/login?'),
    });
  });

  it('gets the texts of a scope of the host, in the first language if others are missing', async () => {
    const ht = { title: 'Wè kòmand ou yo', detail: 'Sa ou te achte.' };
    const fr = { title: 'Voir vos commandes', detail: 'Ce que vous avez acheté.' };
    const pt = { title: 'Ver seus pedidos', detail: 'O que você comprou.' };
    const { provider } = await start({
      languages: ['ht', 'fr'],
      texts: { fr: { scopes: { openid: { title: 'Qui vous êtes' } } } },
      scopes: { orders: { consent: { ht, fr, pt } } },
    });
    const client = await provider.client({ allowedScopes: ['openid', 'orders'] });
    const { shown } = await open(provider, client, { scope: 'openid orders' });
    const { openid } = scopes;
    const french = { ...openid.consent.fr, title: 'Qui vous êtes' };
    expect(shown.scopes).toEqual([
      { name: 'openid', ...unasked, texts: { ...openid.consent, fr: french } },
      { name: 'orders', ...unasked, texts: { ht, fr, pt, en: ht, es: ht } },
    ]);
  });

  it('gives its refusal, and its approval, which alone is remembered, and marks what is new after that', async () => {
    const { provider, client } = await start();
    const denied = await (await open(provider, client)).finish('deny');
    expect([denied.outcome, denied.callback.get('state')]).toEqual(['303 access_denied', 'a state']);
    expect(await provider.attempt(client)).toBe('interaction');
    const { callback } = await (await open(provider, client)).finish('approve');
    expect(await provider.redeem(client, callback.get('code') ?? '')).toBe('200 ok');
    expect(await provider.attempt(client)).toBe('code');
    const { shown } = await open(provider, client, { scope: 'openid kyc' });
    expect(shown.scopes).toMatchObject([{ isNew: false }, { isNew: true }]);
  });

  it('continues without a page if another tab has given the same consent', async () => {
    const { provider, client } = await start();
    const { browser, post } = await open(provider, client);
    const second = await open(provider, client, { state: 'two' }, browser);
    await post();
    const again = await browser.get(second.address);
    expect((await browser.get(again.location ?? '')).callback.get('state')).toBe('two');
  });

  it('cannot be completed without its form token, from another site, by another user or in another browser', async () => {
    const { provider, client } = await start();
    const { browser, post } = await open(provider, client);
    const foreign = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
    for (const headers of foreign) expect((await post({}, headers)).status).toBe(403);
    expect((await post({ csrf: 'x' })).status).toBe(403);
    expect((await post({}, {}, provider.browser())).status).toBe(400);
    provider.signIn(browser, ben.sub);
    expect((await post()).outcome).toBe('303 interaction');
    provider.signIn(browser, ana.sub);
    const { location } = await post();
    expect((await browser.get(location ?? '')).outcome).toBe('303 code');
  });

  it('loses its cookie a minute after its completion, and at once if another tab has completed it', async () => {
    const { provider, client } = await start();
    const lives = (headers: Headers, path: string) =>
      headers
        .getSetCookie()
        .filter((line) => line.includes(`path=${path};`))
        .map((line) => Date.parse(/expires=([^;]+)/i.exec(line)?.[1] ?? '') - Date.now());
    const { browser, address, post } = await open(provider, client);
    const second = await open(provider, client, { state: 'two' }, browser);
    const answered = await browser.get((await post()).location ?? '');
    const [life, ...others] = lives(answered.headers, new URL(address).pathname);
    expect(life).toBeGreaterThan(40_000);
    for (const other of [life, ...others]) expect(other).toBeLessThanOrEqual(60_000);
    expect(others).toHaveLength(1);

    const page = new URL(second.address).pathname;
    expect(browser.cookieHeader(page)).toContain('svc_interaction=');
    const again = await browser.get(second.address);
    expect((await browser.get(again.location ?? '')).outcome).toBe('303 code');
    expect(browser.cookieHeader(page)).not.toContain('svc_interaction');
  });

  it('works below a path prefix', async () => {
    const { provider, client } = await start({
      authUrl: 'https://id.example/auth',
      interactionUrl: (id) => `https://id.example/host/${id}`,
    });
    const { address, finish } = await open(provider, client);
    expect(address).toMatch(/^https:\/\/id\.example\/host\//);
    expect((await finish('approve')).outcome).toBe('303 code');
  });

  it.each(['https://evil.example/consent/$', '/consent?id=$', 'https://'])(
    'at %s is refused: an error page and a log line',
    async (url) => {
      const { provider, client } = await start({ interactionUrl: (id) => url.replace('$', id) });
      const browser = provider.browser();
      const { location } = await browser.get(provider.authorizeUrl(client));
      const answer = await browser.get(location ?? '');
      expect([answer.outcome, answer.location]).toEqual(['500 server_error', null]);
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(provider.logged.map(({ level }) => level)).toEqual(['error']);
    },
  );
});
