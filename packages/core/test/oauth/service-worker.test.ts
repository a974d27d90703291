import { expect, it } from 'vitest';
import { launchBrowser } from '../../../../lab/support/browser/browser.ts';
import { ana, Host } from '../support/directory.ts';
import type { TestProvider } from '../support/provider.ts';
import { afterwards, startProvider } from '../support/running.ts';

const start = `addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));`;

/** Service workers of host apps on the origin of the service, by how they handle navigations. */
const workers = {
  'passes it on': `${start}
addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));`,
  'passes it on with a time limit': `${start}
addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(fetch(event.request, { signal: AbortSignal.timeout(9000) }));
});`,
  'has navigation preload': `addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) =>
  event.waitUntil(registration.navigationPreload.enable().then(() => clients.claim())));
addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate')
    event.respondWith(event.preloadResponse.then((response) => response ?? fetch(event.request)));
});`,
} as const;

const home = `<!doctype html><title>home</title><script>
navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)
  .then(() => { document.title = 'ready'; });
</script>`;

/**
 * Starts a provider whose host is an app with a service worker. Every browser is signed in at the host
 * application.
 */
async function startApp(worker: string): Promise<TestProvider> {
  const host = new Host();
  host.pages = ({ url = '/' }, response) => {
    const isWorker = url === '/worker.js';
    response.setHeader('Content-Type', isWorker ? 'text/javascript' : 'text/html');
    response.end(isWorker ? worker : url === '/home' ? home : '<!doctype html><title>back</title>');
  };
  const authenticate = () => ({ sub: ana.sub, authenticatedAt: new Date(Date.now() - 5_000) });
  return startProvider({ login: { ...host.login, authenticate } }, host);
}

it.each(Object.entries(workers))(
  'a user signs in in Chromium where the service worker of the host %s',
  async (_what, worker) => {
    const [app, chromium] = await Promise.all([startApp(worker), launchBrowser()]);
    afterwards(() => chromium.close());
    const redirectUri = `${app.origin}/back`;
    const client = await app.client({ redirectUris: [redirectUri] });
    const page = await (await chromium.newContext()).newPage();
    await page.goto(`${app.origin}/home`);
    await page.waitForFunction('document.title === "ready" && navigator.serviceWorker.controller !== null');

    await page.evaluate((url) => location.assign(url), app.authorizeUrl(client));
    await page.locator('button[value=approve]').click();
    await page.waitForURL((url) => url.pathname === '/back');
    expect([...new URL(page.url()).searchParams.keys()].sort()).toEqual(['code', 'iss', 'state']);
  },
);
