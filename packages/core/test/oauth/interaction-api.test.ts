import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { OAuthError, type OstiaryOptions, scopes } from '../../src/index.ts';
import { ana, ben } from '../support/directory.ts';
import { type TestClient, TestProvider } from '../support/provider.ts';

const running: TestProvider[] = [];
afterEach(() => Promise.all(running.splice(0).map((provider) => provider.stop())));

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

/** A provider whose host renders the consent page itself, as JSON, so that a test can read it. */
async function start(
  options: Partial<OstiaryOptions> = {},
): Promise<{ provider: TestProvider; client: TestClient }> {
  const provider = await TestProvider.start({ interactionUrl: (id) => `/consent/${id}`, ...options });
  running.push(provider);
  const { interactions } = provider.ostiary;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const redirect = (to: string) => response.writeHead(303, { location: to }).end();
    try {
      if (request.method === 'POST') {
        const form = await formOf(request);
        const decide = form.get('decision') === 'approve' ? interactions.approve : interactions.deny;
        return redirect((await decide(request, { csrfToken: form.get('csrf') ?? '' })).redirectTo);
      }
      const details = await interactions.details(request);
      if ('redirectTo' in details) return redirect(details.redirectTo);
      return response.end(JSON.stringify(details));
    } catch (error) {
      return response
        .writeHead(error instanceof OAuthError ? error.status : 599)
        .end(error instanceof OAuthError ? error.code : String(error));
    }
  };
  provider.host.pages = (request, response) => void answer(request, response);
  return { provider, client: await provider.client({ name: 'The app' }) };
}

/** Starts a request and follows it to the host's page. */
async function open(
  provider: TestProvider,
  client: TestClient,
  changes: Record<string, string> = {},
  browser = provider.browser(),
) {
  const interaction = await browser.get(provider.authorizeUrl(client, changes));
  const page = await browser.get(interaction.location ?? '');
  const address = page.location ?? '';
  return { browser, address, interaction: interaction.location ?? '', shown: await browser.get(address) };
}

describe('a consent page of the host', () => {
  it('is where the browser goes, and is told what to show', async () => {
    const { provider, client } = await start();
    const { address, interaction, shown } = await open(provider, client, {
      scope: 'openid kyc',
      ui_locales: 'fr en',
    });
    const id = interaction.split('/').at(-1);
    expect(address).toBe(`${provider.origin}/consent/${id}`);
    expect(shown.json()).toEqual({
      interactionId: id,
      client: { clientId: client.id, name: 'The app' },
      sub: ana.sub,
      redirectUri: client.redirectUri,
      scopes: [
        { name: 'openid', isNew: true, texts: scopes.openid.consent },
        { name: 'kyc', isNew: true, texts: scopes.kyc.consent },
      ],
      uiLocales: ['fr', 'en'],
      csrfToken: expect.stringMatching(/./),
      switchAccountUrl: expect.stringContaining('/login?'),
    });
  });

  it('gives its approval, which is remembered', async () => {
    const { provider, client } = await start();
    const { browser, address, shown } = await open(provider, client);
    const answer = await browser.post(address, { decision: 'approve', csrf: String(shown.json().csrfToken) });
    const callback = await browser.get(answer.location ?? '');
    const code = new URL(callback.location ?? '').searchParams.get('code') ?? '';
    expect((await provider.exchange(client, code)).status).toBe(200);
    const again = await browser.get(provider.authorizeUrl(client));
    expect(again.location).toContain('code=');
  });

  it('gives its refusal, which is not', async () => {
    const { provider, client } = await start();
    const { browser, address, shown } = await open(provider, client);
    const answer = await browser.post(address, { decision: 'deny', csrf: String(shown.json().csrfToken) });
    const callback = new URL((await browser.get(answer.location ?? '')).location ?? '').searchParams;
    expect([callback.get('error'), callback.get('state')]).toEqual(['access_denied', 'a state']);
    expect((await browser.get(provider.authorizeUrl(client))).location).toContain('/oauth/interaction/');
  });

  it('marks what is new', async () => {
    const { provider, client } = await start();
    const first = await open(provider, client);
    await first.browser.post(first.address, {
      decision: 'approve',
      csrf: String(first.shown.json().csrfToken),
    });
    const { shown } = await open(provider, client, { scope: 'openid kyc' });
    expect(
      (shown.json().scopes as { name: string; isNew: boolean }[]).map(({ name, isNew }) => [name, isNew]),
    ).toEqual([
      ['openid', false],
      ['kyc', true],
    ]);
  });

  it('sends to the login of the host first, and when the user has signed out since', async () => {
    const { provider, client } = await start();
    const browser = provider.browser(null);
    const first = await provider.follow(browser, provider.authorizeUrl(client));
    expect(first.location).toContain('/login?');
    provider.host.signIn(browser.name, ana.sub, new Date(provider.clock.now()));
    const page = await browser.get(new URL(first.location ?? '').searchParams.get('return_to') ?? '');
    const { csrfToken } = (await browser.get(page.location ?? '')).json();
    provider.host.signOut(browser.name);
    expect((await browser.get(page.location ?? '')).location).toContain('/login?');
    expect(
      (await browser.post(page.location ?? '', { decision: 'approve', csrf: String(csrfToken) })).location,
    ).toContain('/login?');
  });

  it('goes on without asking where another tab has answered the same question', async () => {
    const { provider, client } = await start();
    const first = await open(provider, client);
    const second = await open(provider, client, { state: 'two' }, first.browser);
    await first.browser.post(first.address, {
      decision: 'approve',
      csrf: String(first.shown.json().csrfToken),
    });
    const again = await first.browser.get(second.address);
    expect(again.location).toContain('/oauth/authorize/');
    expect(
      new URL((await first.browser.get(again.location ?? '')).location ?? '').searchParams.get('state'),
    ).toBe('two');
  });

  it('cannot be answered without its form token, from another site, by another user or in another browser', async () => {
    const { provider, client } = await start();
    const { browser, address, shown } = await open(provider, client);
    const csrf = String(shown.json().csrfToken);
    const form = { decision: 'approve', csrf };
    expect((await browser.post(address, { decision: 'approve', csrf: 'x' })).status).toBe(403);
    expect((await browser.post(address, form, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await browser.post(address, form, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await provider.browser().post(address, form)).status).toBe(400);
    provider.host.signIn(browser.name, ben.sub, new Date(provider.clock.now()));
    expect((await browser.post(address, form)).status).toBe(403);
    provider.host.signIn(browser.name, ana.sub, new Date(provider.clock.now()));
    expect((await browser.post(address, form)).status).toBe(303);
  });

  it('is over once it was answered and resumed', async () => {
    const { provider, client } = await start();
    const { browser, address, shown } = await open(provider, client);
    const form = { decision: 'approve', csrf: String(shown.json().csrfToken) };
    await browser.get((await browser.post(address, form)).location ?? '');
    expect([(await browser.get(address)).status, (await browser.post(address, form)).status]).toEqual([
      400, 400,
    ]);
  });

  it('is over when the client is disabled', async () => {
    const { provider, client } = await start();
    const { browser, address, shown } = await open(provider, client);
    await provider.ostiary.admin.clients.disable(client.id);
    const answers = [
      await browser.get(address),
      await browser.post(address, { decision: 'approve', csrf: String(shown.json().csrfToken) }),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [401, 'invalid_client'],
      [401, 'invalid_client'],
    ]);
  });

  it('works below a path prefix', async () => {
    const { provider, client } = await start({
      authUrl: 'https://id.example/auth',
      interactionUrl: (id) => `https://id.example/host/${id}`,
    });
    const { browser, address, shown } = await open(provider, client);
    expect(address).toMatch(/^https:\/\/id\.example\/host\//);
    const answer = await browser.post(address, { decision: 'approve', csrf: String(shown.json().csrfToken) });
    expect((await browser.get(answer.location ?? '')).location).toContain('code=');
  });

  it.each([
    ['on another origin', (id: string) => `https://evil.example/consent/${id}`],
    ['without the id in its path', (id: string) => `/consent?id=${id}`],
    ['that is no URL', () => 'https://'],
  ])('at an address %s is refused: an error page and a log line', async (_name, interactionUrl) => {
    const { provider, client } = await start({ interactionUrl });
    const browser = provider.browser();
    const { location } = await browser.get(provider.authorizeUrl(client));
    const answer = await browser.get(location ?? '');
    expect([answer.status, answer.location]).toEqual([500, null]);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(provider.logged.map(({ level }) => level)).toEqual(['error']);
  });
});
