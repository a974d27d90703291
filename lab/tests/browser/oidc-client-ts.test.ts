import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type * as oidc from 'oidc-client-ts';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { ana, Host } from '../../../packages/core/test/support/directory.ts';
import { serve, startProvider } from '../../../packages/core/test/support/running.ts';
import { launchBrowser } from '../../support/browser/browser.ts';

const library = readFileSync(
  fileURLToPath(
    import.meta.resolve('oidc-client-ts').replace(/dist\/.*$/, 'dist/browser/oidc-client-ts.min.js'),
  ),
);

/** Script of the page that the hidden iframe loads in the app that uses oidc-client-ts. */
const inFrame =
  'new oidc.UserManager({ authority: "x", client_id: "x", redirect_uri: "x" }).signinSilentCallback()';

/**
 * Starts an app without a server-side part. Every page of the app loads oidc-client-ts as it is published.
 */
const startApp = () =>
  serve(({ url = '' }, response) => {
    const isScript = url === '/oidc.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    const script = url.startsWith('/silent') ? inFrame : '';
    const page = `<!doctype html><title>An app</title><script src="/oidc.js"></script><script>${script}</script>`;
    response.end(isScript ? library : page);
  });

declare global {
  var users: oidc.UserManager;
  interface Window {
    readonly oidc: typeof oidc;
  }
}

/**
 * Starts a provider with the settings that a library for single-page apps needs, its app, and a page of the
 * app. The user Ana is already signed in at the provider's application.
 */
async function start() {
  const host = new Host();
  host.people.set(ana.sub, { ...ana, email: 'ana@example.com', emailVerified: true });
  const login = host.loginWithSignOut;
  const options = { login, scopes: { email: true, standardProfile: true }, refreshTokens: {} };
  const provider = await startProvider(options, host);
  const app = await startApp();
  const client = await provider.client({
    ...{ public: true, firstParty: true, redirectUris: [`${app}/callback`, `${app}/silent`] },
    postLogoutRedirectUris: [`${app}/bye`],
    allowedScopes: ['openid', 'profile', 'email', 'offline_access'],
  });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const context = await browser.newContext();
  provider.host.signIn('spa', ana.sub, new Date(provider.clock.now() - 1000));
  await context.addCookies([{ name: 'host', value: 'spa', url: provider.origin }]);
  const page = await context.newPage();
  const settings = {
    ...{ authority: provider.origin, client_id: client.id, redirect_uri: `${app}/callback` },
    ...{ silent_redirect_uri: `${app}/silent`, post_logout_redirect_uri: `${app}/bye`, loadUserInfo: true },
  };
  /** Opens a page of the app with oidc-client-ts configured. */
  const open = async (path: string, scope: string, at: Page = page) => {
    if (!at.url().startsWith(app + path)) await at.goto(app + path);
    await at.evaluate(
      (given) => {
        globalThis.users = new window.oidc.UserManager(given);
      },
      { ...settings, scope },
    );
  };
  /** Signs in, and returns the app's data about the user. */
  const signIn = async (scope: string) => {
    await open('/', scope);
    await page.evaluate(() => void globalThis.users.signinRedirect());
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${app}/callback**`);
    await open('/callback', scope);
    return userOf(await page.evaluate(() => globalThis.users.signinCallback()));
  };
  const renew = async () => userOf(await page.evaluate(() => globalThis.users.signinSilent()));
  const signOut = async () => {
    await page.evaluate(() => void globalThis.users.signoutRedirect());
    await page.waitForURL(`${app}/bye**`);
  };
  return { provider, signIn, renew, signOut };
}

/** Casts the user data from the page to the type of oidc-client-ts. */
function userOf(user: unknown) {
  return user as Pick<oidc.User, 'access_token' | 'refresh_token' | 'id_token' | 'profile'>;
}

it('oidc-client-ts signs in, renews with its refresh token, and signs out', async () => {
  const { provider, signIn, renew, signOut } = await start();
  const first = await signIn('openid profile email offline_access');
  expect(first.profile).toMatchObject({ sub: ana.sub, name: ana.name, email: 'ana@example.com' });
  const second = await renew();
  const third = await renew();
  expect(new Set([first, second, third].map(({ refresh_token }) => refresh_token)).size).toBe(3);
  expect(third.profile).toMatchObject({ sub: ana.sub, name: ana.name });
  expect(await provider.isAlive(third.access_token)).toBe(true);
  await signOut();
  expect(provider.host.isSignedIn('spa')).toBe(false);
});

it('oidc-client-ts renews in a hidden frame too, without a refresh token', async () => {
  const { provider, signIn, renew } = await start();
  const first = await signIn('openid profile');
  expect(first.refresh_token).toBeUndefined();
  const second = await renew();
  expect(second.access_token).not.toBe(first.access_token);
  expect(second.profile).toMatchObject({ sub: ana.sub, name: ana.name });
  provider.host.signOut('spa');
  await expect(renew()).rejects.toThrow(/login_required|signed/);
});
