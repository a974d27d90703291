import { expect } from 'vitest';
import { Browser, type Page } from '../../../demo/src/walkthrough/browser.ts';
import type { Deployment } from './deployment.ts';

/** Headers that a test with security headers expects; with others it would prove nothing. */
export interface Proof {
  /** Headers of the host application's own login page. */
  readonly hostHeaders: object;
  /** Headers of Ostiary's consent page. */
  readonly consentHeaders: object;
  /** Value of the header `Origin` that a browser sends with the consent form of a site. */
  readonly origin: (site: string) => string;
}

const redirectUri = 'https://partner.example/callback';

/**
 * Signs in and revokes the consent without a browser. `origin` is the header that a browser would send under
 * the given security headers; Ostiary handles it in the same way in every framework.
 */
export async function walkWithHeaders(
  { ostiary, site, authUrl }: Deployment,
  { hostHeaders, consentHeaders, origin }: Proof,
): Promise<void> {
  const browser = new Browser();
  const open = async (url: string) => browser.follow(await browser.open(url));
  const send = async ({ forms: [form], url }: Page, input: Record<string, string>) => {
    if (form === undefined) throw new Error(`there is no form at ${url}`);
    const from = { Origin: origin(site), 'Sec-Fetch-Site': 'same-origin' };
    const isEnd = (location: string) => location.startsWith(redirectUri);
    return browser.follow(await browser.submit({ url }, form, input, from), isEnd);
  };
  const { client } = await ostiary.admin.clients.create({
    name: 'The app',
    redirectUris: [redirectUri],
    allowedScopes: ['openid'],
  });
  const request = {
    client_id: client.clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
  };
  const login = await open(`${authUrl}/oauth/authorize?${new URLSearchParams(request)}`);
  expect(Object.fromEntries(login.headers)).toMatchObject(hostHeaders);
  const consent = await send(login, {});
  expect(Object.fromEntries(consent.headers)).toMatchObject(consentHeaders);
  const { location } = await send(consent, { decision: 'approve' });
  expect(new URL(location ?? site).searchParams.get('code')).toMatch(/./);

  const apps = await open(`${authUrl}/account/apps`);
  expect(Object.fromEntries(apps.headers)).toMatchObject(consentHeaders);
  expect((await send(apps, {})).html).toContain('role="status"');
}
