import type { IssuedPassport, Logger, Ostiary, OstiaryOptions } from '@ostiary/core';
import type { NewApiKey, Partner } from '@ostiary/core/admin';
import type { Mode } from '@ostiary/core/storage';
import type { SignInContext, TestBrowser } from './browser.ts';
import type { TestClock } from './clock.ts';
import type { TestFaults } from './faults.ts';
import type { TestInbox } from './inbox.ts';
import type { Fetch } from './network.ts';
import type { TestOAuth } from './oauth.ts';
import type { TestRail } from './rail.ts';
import type { TestUser, TestUsers, UserReference } from './users.ts';
import type { Receiver } from './webhooks.ts';

/**
 * Options of `createTestOstiary`, all of which have a default.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary({
 *   prefix: 'acme',
 *   now: new Date('2030-01-01T00:00:00Z'),
 *   users: [{ name: 'Ana' }, { name: 'Ben', kycStatus: 'pending', kycTier: 0 }],
 * });
 * ```
 */
export interface TestOstiaryOptions
  extends Pick<
    OstiaryOptions,
    | 'claimsParameter'
    | 'clientMetadataDocuments'
    | 'dpop'
    | 'events'
    | 'interactionUrl'
    | 'introspection'
    | 'languages'
    | 'limits'
    | 'partnerLimits'
    | 'prefix'
    | 'privateKeyJwt'
    | 'pushedRequests'
    | 'refreshTokens'
    | 'resources'
    | 'console'
    | 'scopes'
    | 'texts'
    | 'theme'
    | 'trustedProxies'
  > {
  /**
   * Destination of log lines, including those that planned faults cause. Use `console` to see them while
   * debugging.
   * @defaultValue `silentLogger`: nowhere
   */
  readonly logger?: Logger;
  /** @defaultValue `'https://id.ostiary.test'` */
  readonly authUrl?: string;
  /** @defaultValue `'https://api.ostiary.test'` */
  readonly baseUrl?: string;
  /**
   * Initial time of the test kit's clock.
   * @defaultValue the current time, so that code which reads the machine's clock agrees until the test moves
   * the kit's clock
   */
  readonly now?: Date | number;
  /** Users of the test kit, instead of the default ones. Missing fields are filled in. */
  readonly users?: readonly Partial<TestUser>[];
  /**
   * Authentication context classes that the test kit's login page can give: an app that requests one of them
   * (`acr_values`) gets it.
   * @defaultValue none
   */
  readonly acrValues?: readonly string[];
  /** IP address from which requests come. @defaultValue `'192.0.2.1'` */
  readonly address?: string;
  /** Seconds between delivery attempts, as in the option `webhooks` of `createOstiary`. */
  readonly retryDelaysSeconds?: readonly number[];
  /**
   * Adds the headers of Standard Webhooks to deliveries, as in the option `webhooks` of `createOstiary`.
   * @defaultValue `false`
   */
  readonly standardHeaders?: boolean;
}

/**
 * An API key of the kit.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const key: TestKey = await kit.keys.issue({ scopes: ['users:read'], allowlist: ['198.51.100.0/24'] });
 * await kit.fetchFrom('198.51.100.7')(`${kit.baseUrl}/v1/partner/whoami`, { headers: { 'x-api-key': key.key } });
 * ```
 */
export interface TestKey {
  readonly id: string;
  /** The API key, sent in the header `X-API-Key`. */
  readonly key: string;
  /** Secret with which a partner signs API requests. */
  readonly signingSecret: string;
  readonly partner: string;
  readonly mode: Mode;
}

/**
 * A registered webhook endpoint.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const endpoint: TestEndpoint = await kit.webhooks.register('https://shop.example/webhooks', {
 *   events: ['payment.completed'],
 *   secret: 'a secret of the shop itself',
 * });
 * ```
 */
export interface TestEndpoint {
  /** Id of the endpoint: `we_…`. */
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/**
 * The whole service in memory: the real engine, without a port, with a clock that the test controls.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const headers = { 'x-api-key': kit.keys.live.key };
 * const answer = await kit.fetch(`${kit.baseUrl}/v1/partner/users/${kit.user.kid}`, { headers });
 * await kit.close();
 * ```
 */
export interface TestOstiary extends TestOAuth, AsyncDisposable {
  /** The Ostiary service under test, with the same functions that host applications have. */
  readonly ostiary: Ostiary;
  /** Base URL of the partner API. */
  readonly baseUrl: string;
  /** Base URL to which apps send users. */
  readonly authUrl: string;
  /** A `fetch` for the client SDK and other code. It reaches only the service and the test's receivers. */
  readonly fetch: Fetch;
  /** Returns a `fetch` whose requests come from another IP address, for keys with an allowlist. */
  fetchFrom(address: string): Fetch;
  readonly clock: TestClock;
  /**
   * Runs all work that is due now: executions of transfers, and deliveries. `clock.advance` and `inbox.next`
   * do this too.
   */
  settle(): Promise<void>;
  /** First user of the test kit. The default one has a value in every field of Ostiary's own scopes. */
  readonly user: TestUser;
  readonly users: TestUsers;
  /** Slug of the partner that owns the kit's keys and clients. */
  readonly partner: string;
  readonly partners: {
    /** Creates another partner. @param slug - its slug, by default a new one */
    create(slug?: string): Promise<Partner>;
  };
  readonly keys: {
    /** API key for live mode with all scopes. */
    readonly live: TestKey;
    /** API key for test mode with all scopes; it sees sandbox users only. */
    readonly test: TestKey;
    /**
     * Issues another API key for the partner of the test kit, by default for live mode and with all scopes.
     */
    issue(settings?: Partial<NewApiKey>): Promise<TestKey>;
  };
  /** Returns a browser in which a user is signed in. @param context - how the user signed in (`acr`, `amr`) */
  signIn(user?: UserReference, context?: SignInContext): TestBrowser;
  readonly passports: {
    /**
     * Issues a passport that a user shows to a partner. It is valid for five minutes by the kit's clock.
     */
    issue(user?: UserReference): Promise<IssuedPassport>;
  };
  readonly rail: TestRail;
  readonly webhooks: {
    /** Registers a webhook endpoint of the partner through the API. */
    register(
      url: string,
      settings?: {
        /** @defaultValue `['*']` */
        readonly events?: readonly string[];
        /** @defaultValue {@link TestOstiary.webhookSecret} */
        readonly secret?: string;
        /** API key whose partner and mode own the endpoint. @defaultValue `keys.live` */
        readonly key?: TestKey;
        /** Code that handles webhooks to the endpoint. @defaultValue responds to every webhook with 200 */
        readonly receiver?: Receiver;
      },
    ): Promise<TestEndpoint>;
    /**
     * Makes your code handle requests at and below a URL: deliveries, logout tokens, reads of documents that
     * clients publish (`jwksUri`, client ID metadata documents), and requests made with
     * {@link TestOstiary.fetch}.
     */
    receive(url: string, receiver: Receiver): void;
  };
  /** Default secret of webhook endpoints. */
  readonly webhookSecret: string;
  readonly inbox: TestInbox;
  readonly faults: TestFaults;
  /**
   * Closes the test kit. Calls of `fetch`, `inbox.next`, `settle` and `clock.advance` that still wait reject,
   * and so do later ones. A second `close` has no effect.
   */
  close(): Promise<void>;
}
