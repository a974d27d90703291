import { get } from 'node:http';
import { expect, it } from 'vitest';
import { answerOf } from '../support/browser.ts';
import { loggingOut } from '../support/logging-out.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const { port } = new URL(provider.origin);
const target = new URL(provider.authorizeUrl(client, { state: 'a b&c' }));

/** Sends a request to the server with any Host header. */
function ask(origin: string, path: string, headers: Record<string, string>) {
  return new Promise<Awaited<ReturnType<typeof answerOf>>>((resolve, reject) => {
    get(new URL(path, origin), { headers: { accept: 'text/html', ...headers } }, (response) => {
      const { statusCode: status = 0, headers } = response;
      const location = headers.location === undefined ? {} : { location: headers.location };
      response.resume();
      resolve(answerOf(new Response(null, { status, headers: location }), origin));
    }).on('error', reject);
  });
}

const asked = (headers: Record<string, string>, url = target) =>
  ask(provider.origin, url.pathname + url.search, headers);

it.each([
  { host: `localhost:${port}` },
  { host: 'www.id.example' },
  { host: `127.0.0.1:${port}`, 'x-forwarded-host': 'www.id.example, proxy.internal' },
])('an authorization request at another name of the server goes on at authUrl, once: %j', async (headers) => {
  const first = await asked(headers);
  const location = new URL(first.location ?? '');
  expect([first.status, location.origin, location.pathname]).toEqual([303, provider.site, target.pathname]);
  for (const [name, value] of target.searchParams) expect(location.searchParams.get(name)).toBe(value);
  // A proxy that changes the Host header does not cause a redirect loop.
  expect((await asked(headers, location)).outcome).toBe('303 interaction');
  expect((await provider.follow(provider.browser(), location.href)).outcome).toBe('303 code');
});

it.each([
  { host: '127.0.0.1' },
  { host: '127.0.0.1:1' },
  { host: 'proxy.internal', 'x-forwarded-host': `127.0.0.1:${port}` },
  { host: '%' },
])(
  'a request by the name of authUrl, whatever the port, or by none that can be read begins at once: %j',
  async (headers) => {
    expect((await asked(headers)).outcome).toBe('303 interaction');
  },
);

it('a sign-out at another host name continues at authUrl, where the user is signed in', async () => {
  const leaving = await loggingOut();
  const query = new URLSearchParams({ id_token_hint: leaving.hint });
  const first = await ask(leaving.provider.origin, `/oauth/logout?${query}`, { host: 'www.id.example' });
  const browser = leaving.provider.browser();
  expect((await browser.get(first.location ?? '')).status).toBe(200);
  expect(leaving.signedOut).toContain(browser.name);
});

it('the page of connected apps at another host name continues at authUrl, where its forms are accepted', async () => {
  const { name } = provider.browser();
  const path = '/account/apps?ui_locales=fr';
  const first = await ask(provider.origin, path, { host: 'www.id.example', cookie: `host=${name}` });
  expect([first.status, first.location]).toEqual([303, `${provider.site}${path}&redirected_to_auth_url=1`]);
  const at = new URL(first.location ?? '');
  const again = await ask(provider.origin, at.pathname + at.search, {
    host: 'www.id.example',
    cookie: `host=${name}`,
  });
  expect(again.status).toBe(200);
});

it('the page of an interaction whose cookie did not come names cookies', async () => {
  const { location } = await provider.browser().get(provider.authorizeUrl(client, { prompt: 'consent' }));
  const page = await provider.browser().get(location ?? '');
  expect(page.outcome).toBe('400 invalid_request');
  expect(page.text).toContain('Your browser did not send our cookie');
});
