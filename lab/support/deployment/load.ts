import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { Browser } from '../../../examples/demo/src/walkthrough/browser.ts';
import { type OpenLoop, openLoop } from '../measure/open-loop.ts';
import { type Credentials, type Kind, kinds, Mix } from './mix.ts';

/** Number of operations per second in the load. */
export type Rates = Readonly<Record<Kind, number>>;

/** Client requests that were started during one procedure of the operators. */
interface Tally {
  requests: number;
  readonly failures: string[];
}

/**
 * Time for which an app caches the JWK Set, in milliseconds. The app does not fetch the set again for an
 * unknown key.
 */
const jwksMs = 3_000;

/** Signs a user in, and returns the user's browser. */
export async function signIn(
  authUrl: string,
  { handle, password }: { readonly handle: string; readonly password: string },
): Promise<Browser> {
  const browser = new Browser(() => undefined);
  const page = await browser.open(`${authUrl}/login`);
  const [form] = page.forms;
  if (form === undefined) throw new Error(`no form to sign in with: ${page.status}`);
  const signedIn = await browser.submit(page, form, { handle, password });
  if (signedIn.status !== 303) throw new Error(`not signed in: ${signedIn.status}`);
  return browser;
}

/** Apps, users and partners that keep working during every procedure of the operators. */
export class Load {
  readonly mix: Mix;
  /** Ids of the keys that have signed ID tokens, in order of first use. */
  readonly kids = new Set<string>();
  readonly #authUrl: string;
  readonly #clientId: string;
  readonly #tallies = new Map<string, Tally>();
  #tally: Tally = { requests: 0, failures: [] };
  #loops: OpenLoop[] = [];
  #jwks: { readonly set: ReturnType<typeof createLocalJWKSet>; readonly at: number } | null = null;

  constructor(authUrl: string, credentials: Credentials, browser: Browser) {
    this.#authUrl = authUrl;
    this.#clientId = credentials.client.id;
    let authorizations = 0;
    const isApp = (location: string): boolean => location.startsWith(credentials.client.redirectUri);
    this.mix = new Mix(credentials, {
      origins: [authUrl],
      patienceMs: 10_000,
      /** Authorizes the app as the user, and requests a new consent every third time. */
      async authorize(url) {
        authorizations += 1;
        const address = authorizations % 3 === 0 ? `${url}&prompt=consent` : url;
        let page = await browser.follow(await browser.open(address), isApp);
        const form = page.forms.find(({ buttons }) => buttons.some(({ value }) => value === 'approve'));
        if (form !== undefined)
          page = await browser.follow(await browser.submit(page, form, { decision: 'approve' }), isApp);
        return page.location ?? `${page.status} at ${page.url}`;
      },
      async passport() {
        const page = await browser.open(`${authUrl}/passport`);
        const token = /id="token"[^>]*>([^<]+)</.exec(page.html)?.[1];
        if (token === undefined) throw new Error(`no passport but ${page.status}`);
        return token;
      },
      accept: (idToken) => this.#verifyIdToken(idToken),
    });
  }

  tallyOf(name: string): Readonly<Tally> {
    return this.#tallies.get(name) ?? { requests: 0, failures: [] };
  }

  /** Attributes all requests from now on to a procedure of the operators. */
  begin(name: string): void {
    this.#tally = { requests: 0, failures: [] };
    this.#tallies.set(name, this.#tally);
  }

  async start(rates: Rates): Promise<void> {
    await this.mix.exchange();
    this.#loops = kinds.map((kind) => {
      const counted = (): Promise<void> => {
        // Count a failure for the procedure during which the request was started, even if the response
        // arrives during the next procedure.
        const tally = this.#tally;
        tally.requests += 1;
        return this.mix[kind]().catch((error: unknown) => {
          tally.failures.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
        });
      };
      return openLoop(rates[kind], counted, () => undefined);
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.splice(0).map((loop) => loop.stop()));
  }

  async #verifyIdToken(idToken: string): Promise<void> {
    const now = performance.now();
    if (this.#jwks === null || now - this.#jwks.at > jwksMs) {
      const answer = await fetch(`${this.#authUrl}/.well-known/jwks.json`);
      this.#jwks = { set: createLocalJWKSet((await answer.json()) as JSONWebKeySet), at: now };
    }
    const { protectedHeader } = await jwtVerify(idToken, this.#jwks.set, {
      issuer: this.#authUrl,
      audience: this.#clientId,
    });
    this.kids.add(String(protectedHeader.kid));
  }
}
