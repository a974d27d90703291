import { randomBytes } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import type { OstiaryOptions } from '../../../../packages/core/src/index.ts';
import { ana, Host } from '../../../../packages/core/test/support/directory.ts';
import { startProvider } from '../../../../packages/core/test/support/running.ts';
import { sink } from '../../../../packages/core/test/webhooks/support/sink.ts';

/** URL of the suite's own callback. No server listens there: browsers of these tests stop before it. */
export const redirectUri = 'https://suite.example/test/a/ostiary/callback';

/** URL to which users are redirected after they have signed out. */
export const postLogoutRedirectUri = 'https://suite.example/test/a/ostiary/post_logout_redirect';

/** All optional scopes that relying parties may request. */
const scopes = { email: true, phone: true, address: true, standardProfile: true };

/** Ana, with a value for every claim. */
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

export type Suite = Awaited<ReturnType<typeof startSuite>>;

/**
 * Starts the environment of all modules: a provider behind a proxy that terminates TLS, with all features
 * that relying parties may request, and static clients, as an operator creates them.
 * @param options - options of the provider that differ
 */
export async function startSuite(options: Partial<OstiaryOptions> = { authUrl: 'https://id.example.com' }) {
  const host = new Host();
  host.people.set(rich.sub, rich);
  const provider = await startProvider(
    { login: host.loginWithSignOut, scopes, refreshTokens: {}, ...options },
    host,
  );
  const endpointOfClient = await sink();
  const isLocal = options.webhooks?.allowPrivateTargets === true;
  const { clock } = provider;
  const discoveryUrl = `${provider.site}/.well-known/openid-configuration`;
  /** Sends a request to a URL from the provider's metadata. */
  const ask = (url: unknown, init: RequestInit = {}) => provider.request(new URL(String(url)).pathname, init);
  const metadata = (await ask(discoveryUrl)).json();
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
   * Sends an authorization request, and acts as the user, also at the host's login, until the browser is back
   * at the client or on a page without an action. Returns the parameters of the callback, if any, the final
   * page of the browser, and the numbers of sign-ins and consent decisions.
   */
  async function visit(sent: Record<string, string>, browser = newBrowser(), post = false) {
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
        page = await browser.post(address, { csrf, decision: 'approve' });
      } else return { callback: null, page, logins, consents };
    }
    throw new Error(`the browser goes in circles at ${address}`);
  }

  return {
    ...{ clock, discoveryUrl, metadata, jwks, client, secondClient: await provision() },
    ...{ ask, endpoint, newBrowser, request, visit },
    /** Logout notifications that the client received. */
    get loggedOut(): readonly string[] {
      return endpointOfClient.received.map(({ body }) => String(body));
    },
    work: () => provider.ostiary.worker.runDue(),
  };
}
