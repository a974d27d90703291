import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../examples/reference-server/src/index.ts';
import { environment, start } from '../../../examples/reference-server/test/support/server.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { lookSmallAndWide } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';

/** Adds a virtual authenticator to the browser, like a laptop's fingerprint reader. */
async function authenticatorOf(context: BrowserContext, page: Page) {
  const devtools: CDPSession = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    async credentials() {
      return (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    },
    /** Replaces the passkeys by copies, as an attacker with a stolen passkey would. */
    async replace(changes: { readonly signCount: number }) {
      const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
      await devtools.send('WebAuthn.clearCredentials', { authenticatorId });
      for (const credential of credentials)
        await devtools.send('WebAuthn.addCredential', {
          authenticatorId,
          credential: { ...credential, ...changes },
        });
    },
    verifyUser: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  };
}

describe('the sign-in of staff, in a real browser', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
    return () => browser.close();
  });

  async function started() {
    const lines: string[] = [];
    const logger = createLogger('warn', { write: (line) => void lines.push(line) });
    const server = await start(await environment({ OSTIARY_OPERATORS: 'on' }), { logger });
    const { staff } = server.installation;
    const profile = await newProfile(browser);
    const { page, context } = profile;
    const authenticator = await authenticatorOf(context, page);
    const origin = `http://localhost:${server.port}`;
    /** Opens the link of an operator's invitation and makes a passkey. */
    async function join(email: string): Promise<string> {
      const { token } = await staff.invite(email, 'owner');
      const url = `${origin}/staff/join?link=${token}`;
      await page.goto(url);
      await page.getByRole('button', { name: 'Create a passkey' }).click();
      await page.waitForURL(`${origin}/operators`);
      return url;
    }
    async function signOut(): Promise<void> {
      await page.goto(`${origin}/staff`);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    }
    const signIn = () => page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    const acts = async () =>
      (await server.installation.admin.audit.list()).entries.map(({ action }) => action);
    return { ...profile, server, staff, lines, origin, authenticator, join, signOut, signIn, acts };
  }

  it('makes a passkey from a link, which then is over, and signs in with it', async () => {
    const { page, origin, authenticator, join, signOut, signIn, acts, complaints, asked } = await started();
    const url = await join('ana@example.com');
    expect(await authenticator.credentials()).toHaveLength(1);
    await page.goto(url);
    await page.getByText('This link is over').waitFor();
    await signOut();
    await signIn();
    await page.waitForURL(`${origin}/operators`);
    await page.locator('footer').getByRole('link', { name: 'ana@example.com' }).waitFor();
    expect((await acts()).sort()).toEqual([
      ...['staff.join', 'staff.sign_in', 'staff.sign_in', 'staff.sign_out'],
    ]);
    expect([...asked]).toEqual([origin]);
    expect(complaints.filter((each) => !each.includes('410'))).toEqual([]);
  }, 90_000);

  it('refuses a passkey without its user, a copied one, and one of another origin', async () => {
    const { page, origin, authenticator, join, signOut, signIn, acts, lines, staff } = await started();
    await join('ana@example.com');
    await signOut();
    await authenticator.verifyUser(false);
    await signIn();
    await page.getByText('That passkey did not work').waitFor();
    await authenticator.verifyUser(true);
    // Sign in, so that the stored counter is at least that of the first use of the copy below.
    await page.goto(`${origin}/staff/login`);
    await signIn();
    await page.waitForURL(`${origin}/operators`);
    await signOut();
    await authenticator.replace({ signCount: 0 });
    await signIn();
    await page.getByText('That did not work').waitFor();
    expect(await acts()).toContain('staff.passkey_refused');
    expect(lines.join()).toContain('repeated its counter');
    // Another server on this machine has the same host name, and so gets the same passkey from the browser.
    const other = await start(await environment({ OSTIARY_OPERATORS: 'on' }));
    await authenticator.replace({ signCount: 100 });
    await page.goto(`http://localhost:${other.port}/staff/login`);
    const foreign = await page.evaluate(
      async (options) => {
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(options));
        const credential = await navigator.credentials.get({ publicKey });
        return JSON.stringify(credential);
      },
      await optionsOf(page),
    );
    await page.goto(`${origin}/staff/login`);
    await page.evaluate((credential) => {
      const form = document.getElementById('passkey');
      if (!(form instanceof HTMLFormElement)) return;
      const field = form.elements.namedItem('credential');
      if (field instanceof HTMLInputElement) field.value = credential;
      form.submit();
    }, foreign);
    await page.getByText('That did not work').waitFor();
    expect(await staff.list()).toHaveLength(1);
    await page.goto(`${origin}/operators`);
    expect(page.url()).toContain('/staff/login');
  }, 90_000);

  it('takes the same answer of a passkey once, and none for a challenge of another browser', async () => {
    const { page, origin, join, signOut } = await started();
    await join('ana@example.com');
    await signOut();
    const posted: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') posted.push(request.postData() ?? '');
    });
    const formCookie = async () => {
      const cookies = await page.context().cookies();
      return `ostiary_staff_form=${cookies.find(({ name }) => name === 'ostiary_staff_form')?.value}`;
    };
    const before = await formCookie();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(`${origin}/operators`);
    await page.context().clearCookies({ name: 'ostiary_staff' });
    const [body = ''] = posted;
    const again = async (cookie: string) =>
      (
        await fetch(`${origin}/staff/login/passkey`, {
          method: 'POST',
          redirect: 'manual',
          headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
          body,
        })
      ).status;
    // The sign-in replaced the form cookie, so the form itself is over.
    expect(await again(await formCookie())).toBe(403);
    // With the cookie of that time, the challenge is over.
    expect(await again(before)).toBe(422);
    expect(await again('')).toBe(403);
  }, 90_000);

  it('is accessible, small and wide, in light and dark, also without a script', async () => {
    const { page, origin, staff, join } = await started();
    const { token } = await staff.invite('bob@example.com', 'viewer');
    await join('ana@example.com');
    for (const path of [
      '/staff',
      '/staff/login?again=1',
      `/staff/join?link=${token}`,
      '/staff/join?link=x',
    ]) {
      await page.goto(`${origin}${path}`);
      await page.locator('details').evaluateAll((all) => {
        for (const each of all) each.setAttribute('open', '');
      });
      await lookSmallAndWide(page);
    }
    const plain = await newProfile(browser, { javaScriptEnabled: false });
    await plain.page.goto(`${origin}/staff/login`);
    expect(await plain.page.getByRole('button').allTextContents()).toEqual(['Sign in with a password']);
  }, 90_000);
});

const optionsOf = (page: Page): Promise<string> =>
  page.locator('#passkey').evaluate((form) => form.dataset.options ?? '');
