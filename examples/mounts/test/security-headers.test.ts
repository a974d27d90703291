import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchBrowser } from '../../../lab/support/browser/browser.ts';
import { type Deployment, deployed, type Serve } from './support/deployment.ts';
import { type Proof, walkWithHeaders } from './support/headers.ts';
import { openPartnerSite, type PartnerSite, walkInBrowser } from './support/partner-site.ts';
import { expressWithHelmet, fastifyWithHelmet, honoWithSecureHeaders } from './support/secured.ts';

/** Default headers of helmet. */
const helmetDefaults = {
  'content-security-policy': expect.stringContaining("form-action 'self'"),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'SAMEORIGIN',
};

const ostiaryHeaders = {
  'content-security-policy': expect.stringMatching(/^default-src 'none'; (?!.*form-action)/),
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
};

const behindHelmet: Proof = {
  hostHeaders: helmetDefaults,
  consentHeaders: ostiaryHeaders,
  origin: (site) => site,
};

/**
 * Expected headers when Ostiary runs before Hono's secure headers, whose policy then only covers the host
 * application's pages.
 */
const beforeHono: Proof = {
  hostHeaders: { 'content-security-policy': "form-action 'self'", 'referrer-policy': 'no-referrer' },
  consentHeaders: ostiaryHeaders,
  origin: (site) => site,
};

const behindHono: Proof = {
  hostHeaders: { 'referrer-policy': 'no-referrer', 'x-frame-options': 'SAMEORIGIN' },
  // Hono overwrites Ostiary's headers, so the browser hides the origin of the form.
  consentHeaders: { 'referrer-policy': 'no-referrer', 'x-frame-options': 'SAMEORIGIN' },
  origin: () => 'null',
};

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function signIn({ page, start, callback }: PartnerSite): Promise<void> {
  await start();
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await callback();
}

/** Signs in, signs out at the host application, and signs in again with the consent remembered. */
async function signInAgain(app: PartnerSite): Promise<void> {
  const { page, start } = app;
  await signIn(app);
  await page.context().clearCookies({ name: 'shop-session' });
  await start();
  await page.getByRole('button', { name: 'Sign in' }).click();
}

async function atPartner(
  serve: Serve,
  use: (app: PartnerSite, deployment: Deployment) => Promise<void>,
): Promise<void> {
  const visit = async (deployment: Deployment): Promise<void> => {
    const app = await openPartnerSite(browser, deployment);
    await use(app, deployment).finally(() => app.close());
  };
  await deployed(serve, visit, { worker: false });
}

describe('security headers of the host, in a real browser', () => {
  it.each([
    ['helmet() on Express', expressWithHelmet(), behindHelmet],
    ['secureHeaders() of Hono', honoWithSecureHeaders(), behindHono],
    ['secureHeaders() behind Ostiary', honoWithSecureHeaders({ strictBehind: true }), beforeHono],
  ] as const)('%s, as it is: sign in twice, deny, revoke', (_name, serve, proof) =>
    deployed(serve, (deployment) => walkInBrowser(browser, deployment, proof), { worker: false }),
  );
});

it('@fastify/helmet, as it is: sends the headers of helmet() on Express, and lets a user sign in and revoke', () =>
  deployed(fastifyWithHelmet, (deployment) => walkWithHeaders(deployment, behindHelmet), { worker: false }));

describe('a login behind security headers, in a real browser', () => {
  // A `form-action` that names the app allows the redirect to it.
  it('a login page with a form-action that includes the app works', () => {
    const directives = { formAction: ["'self'", 'http://localhost:*'] };
    const serve = expressWithHelmet({ contentSecurityPolicy: { directives } });
    return atPartner(serve, async (app) => {
      await signInAgain(app);
      expect((await app.callback()).get('code')).toMatch(/./);
    });
  });

  it('a window opened by the app stays connected to it, if no page is shown', () =>
    atPartner(expressWithHelmet(), async (app) => {
      const { page } = app;
      await signIn(app);
      const opened = page.waitForEvent('popup');
      await page.evaluate((address) => void globalThis.open(address), app.link);
      const popup = await opened;
      await popup.waitForURL(/\/callback\?/);
      expect(await popup.evaluate(() => globalThis.opener !== null)).toBe(true);
    }));
});
