import { randomBytes } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import * as oauth from 'oauth4webapi';
import type { OstiaryOptions } from '../../../../packages/core/src/index.ts';
import { answerOf, type TestBrowser } from '../../../../packages/core/test/support/browser.ts';
import { ana, Host } from '../../../../packages/core/test/support/directory.ts';
import { startProvider } from '../../../../packages/core/test/support/running.ts';
import { sink } from '../../../../packages/core/test/webhooks/support/sink.ts';
import { fapiClients } from './fapi/clients.ts';

/**
 * URL of the conformance suite's own callback. No server listens at this URL, because the browsers of these
 * tests stop before they request it.
 */
export const redirectUri = 'https://suite.example/test/a/ostiary/callback';

/** URL of the conformance suite's callback with a query, which the provider must keep. */
export const redirectUriWithQuery = `${redirectUri}?dummy1=lorem&dummy2=ipsum`;

/** URL to which users are redirected after they have signed out. */
export const postLogoutRedirectUri = 'https://suite.example/test/a/ostiary/post_logout_redirect';

/** All optional scopes that apps may request. */
const scopes = { email: true, phone: true, address: true, standardProfile: true };

/** The user Ana, with a value for every standard claim. */
const rich = {
  ...ana,
  ...{ email: 'ana@example.com', emailVerified: true },
  ...{ phoneNumber: '+50937000001', phoneNumberVerified: true },
  address: { streetAddress: '1 Rue Capois', locality: 'Port-au-Prince', country: 'HT' },
  ...{ locale: 'ht-HT', zoneinfo: 'America/Port-au-Prince', updatedAt: '2026-01-31T12:00:00.000Z' },
  ...{ givenName: 'Ana', familyName: 'Joseph', middleName: 'Marie', nickname: 'Anita' },
  ...{ profile: 'https://id.example.com/ana', website: 'https://ana.example', gender: 'female' },
  birthdate: '1990-02-28',
};

/** Time that a person takes to sign in, in milliseconds. */
const typingMs = 3_000;

/** Returns a new random text. */
export const randomText = (bytes = 12): string => randomBytes(bytes).toString('base64url');

/** Optional variations of visiting the authorization endpoint. */
interface VisitOptions {
  readonly browser?: TestBrowser;
  /** True to send the authorization request as a form. */
  readonly post?: boolean;
  /** Decision of the user on the consent page. */
  readonly decision?: 'approve' | 'deny';
}

export type Suite = Awaited<ReturnType<typeof startSuite>>;

/**
 * Starts the environment of all conformance modules: a provider behind a proxy that terminates TLS, with all
 * features that apps may request, and with fixed clients that an operator has created.
 * @param options - options of the provider that differ
 */
export async function startSuite(options: Partial<OstiaryOptions> = { authUrl: 'https://id.example.com' }) {
  const host = new Host();
  host.people.set(rich.sub, rich);
  const provider = await startProvider(
    {
      ...{ login: host.loginWithSignOut, scopes, refreshTokens: {} },
      ...{ privateKeyJwt: true, pushedRequests: {}, dpop: true },
      ...options,
    },
    host,
  );
  const endpointOfClient = await sink();
  const isLocal = options.webhooks?.allowPrivateTargets === true;
  const { clock, origin } = provider;
  const discoveryUrl = `${provider.site}/.well-known/openid-configuration`;
  /** Sends a request to a URL from the provider's metadata, as an OAuth library does. */
  const send = (url: string, init: RequestInit = {}): Promise<Response> =>
    fetch(new URL(new URL(url).pathname, origin), { redirect: 'manual', ...init });
  const ask = async (url: unknown, init?: RequestInit) => answerOf(await send(String(url), init));
  const metadata = (await ask(discoveryUrl)).json();
  const server = await oauth.processDiscoveryResponse(new URL(provider.site), await send(discoveryUrl));
  const jwks = (await ask(metadata.jwks_uri)).json() as unknown as JSONWebKeySet;
  const provision = () =>
    provider.client({
      redirectUris: [redirectUri],
      postLogoutRedirectUris: [postLogoutRedirectUri],
      allowedScopes: ['openid', 'profile', 'kyc', 'email', 'phone', 'address', 'offline_access'],
      backchannelLogoutUri: isLocal ? endpointOfClient.url : null,
    });
  const client = await provision();
  const endpoint = (name: string) => String(metadata[`${name}_endpoint`]);
  const newBrowser = () => provider.browser(null);

  /** Builds the parameters of a plain authorization request, with a new `state` and `nonce`. */
  const request = (changes: Record<string, string> = {}, { id } = client): Record<string, string> => ({
    ...{ client_id: id, redirect_uri: redirectUri, scope: 'openid', response_type: 'code' },
    ...{ state: randomText(), nonce: randomText() },
    ...changes,
  });

  /**
   * Sends an authorization request, and acts as the user, also at the host application's login, until the
   * browser is back at the client or on a page without an action. Returns the parameters of the callback, if
   * any, the final page of the browser, and the numbers of sign-ins and consent decisions.
   */
  async function visit(sent: Record<string, string>, options: VisitOptions = {}) {
    const { browser = newBrowser(), post = false, decision = 'approve' } = options;
    const authorization = endpoint('authorization');
    let address = `${authorization}?${new URLSearchParams(sent)}`;
    let page = await (post ? browser.post(authorization, sent) : browser.get(address));
    let [logins, consents] = [0, 0];
    for (let step = 0; step < 20; step += 1) {
      const { location, text } = page;
      if (location?.startsWith(`${redirectUri}?`)) return { callback: page.callback, page, logins, consents };
      if (location !== null) {
        address = location;
        if (new URL(location).pathname === '/login') {
          logins += 1;
          clock.advance(typingMs);
          provider.signIn(browser, ana.sub);
          address = page.callback.get('return_to') ?? '';
        }
        page = await browser.get(address);
      } else if (text.includes('name="decision"')) {
        consents += 1;
        const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
        page = await browser.post(address, { csrf, decision });
      } else return { callback: null, page, logins, consents };
    }
    throw new Error(`the browser goes in circles at ${address}`);
  }

  return {
    ...{ clock, origin, discoveryUrl, metadata, server, jwks, client, secondClient: await provision() },
    fapi: await fapiClients(provider, [redirectUri, redirectUriWithQuery]),
    ...{ ask, fetch: send, endpoint, newBrowser, request, visit },
    /** Logout notifications that the client received. */
    get loggedOut(): readonly string[] {
      return endpointOfClient.received.map(({ body }) => String(body));
    },
    work: () => provider.ostiary.worker.runDue(),
  };
}
