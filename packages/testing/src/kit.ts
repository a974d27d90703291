import type { IssuedPassport, Logger, Ostiary, OstiaryOptions } from '@ostiary/core';
import type { NewApiKey, Partner } from '@ostiary/core/admin';
import type { Mode } from '@ostiary/core/storage';
import type { TestBrowser } from './browser.ts';
import type { TestClock } from './clock.ts';
import type { TestFaults } from './faults.ts';
import type { TestInbox } from './inbox.ts';
import type { Fetch } from './network.ts';
import type { TestOAuth } from './oauth.ts';
import type { TestRail } from './rail.ts';
import type { TestUser, TestUsers, UserReference } from './users.ts';
import type { Receiver } from './webhooks.ts';

/**
 * Options of `createTestOstiary`. Every one has a default.
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
    | 'events'
    | 'interactionUrl'
    | 'introspection'
    | 'languages'
    | 'limits'
    | 'partnerLimits'
    | 'prefix'
    | 'refreshTokens'
    | 'console'
    | 'scopes'
    | 'texts'
    | 'theme'
    | 'trustedProxies'
  > {
  /**
   * Destination of log lines, those of planned faults too. Use `console` to see them while you debug.
   * @defaultValue `silentLogger`: nowhere
   */
  readonly logger?: Logger;
  /** @defaultValue `'https://id.ostiary.test'` */
  readonly authUrl?: string;
  /** @defaultValue `'https://api.ostiary.test'` */
  readonly baseUrl?: string;
  /**
   * Initial time of the clock.
   * @defaultValue the present, so that code which asks the machine's clock agrees until the test moves this one
   */
  readonly now?: Date | number;
  /** Users instead of the seeded ones. What they do not have is made up. */
  readonly users?: readonly Partial<TestUser>[];
  /** The address that requests come from. @defaultValue `'192.0.2.1'` */
  readonly address?: string;
  /** As in the option `webhooks` of `createOstiary`. */
  readonly retryDelaysSeconds?: readonly number[];
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
  /** Sent as `X-API-Key`. */
  readonly key: string;
  /** Signs requests. */
  readonly signingSecret: string;
  readonly partner: string;
  readonly mode: Mode;
}

/**
 * An endpoint that was registered.
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
  /** `we_…`. */
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

/**
 * The whole service in memory: the real engine, without a port, with a clock that stands still.
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
  /** The engine, as hosts have it. */
  readonly ostiary: Ostiary;
  /** URL of the API for clients. */
  readonly baseUrl: string;
  /** URL to which apps send users. */
  readonly authUrl: string;
  /** For the client SDK, or anything that takes a `fetch`: leads to the service and to receivers, nowhere else. */
  readonly fetch: Fetch;
  /** A `fetch` from another address, for keys with an allowlist. */
  fetchFrom(address: string): Fetch;
  readonly clock: TestClock;
  /** Does all that is due now: executions, deliveries. `clock.advance` and `inbox.next` do it too. */
  settle(): Promise<void>;
  /** The first user, with every field that any scope shows. */
  readonly user: TestUser;
  readonly users: TestUsers;
  /** Slug of the partner that owns the seeded keys and clients. */
  readonly partner: string;
  readonly partners: {
    /** @param slug - made up unless given */
    create(slug?: string): Promise<Partner>;
  };
  readonly keys: {
    /** Every scope, live mode. */
    readonly live: TestKey;
    /** Every scope, test mode: sees sandbox users only. */
    readonly test: TestKey;
    /** Issues another key, by default live, with every scope, for the partner of the kit. */
    issue(settings?: Partial<NewApiKey>): Promise<TestKey>;
  };
  /** A browser in which a user is signed in. */
  signIn(user?: UserReference): TestBrowser;
  readonly passports: {
    /**
     * Makes a passport that a user shows to a partner. It is valid for five minutes by the clock of the kit.
     */
    issue(user?: UserReference): Promise<IssuedPassport>;
  };
  readonly rail: TestRail;
  readonly webhooks: {
    /** Registers an endpoint of the partner through the API. */
    register(
      url: string,
      settings?: {
        /** @defaultValue `['*']` */
        readonly events?: readonly string[];
        /** @defaultValue {@link TestOstiary.webhookSecret} */
        readonly secret?: string;
        /** Owner and mode of the endpoint. @defaultValue `keys.live` */
        readonly key?: TestKey;
        /** Answers there. @defaultValue every delivery is answered with 200 */
        readonly receiver?: Receiver;
      },
    ): Promise<TestEndpoint>;
    /** Lets code of yours answer at and below a URL: deliveries, and what is sent there with {@link TestOstiary.fetch}. */
    receive(url: string, receiver: Receiver): void;
  };
  /** Default options of endpoints. */
  readonly webhookSecret: string;
  readonly inbox: TestInbox;
  readonly faults: TestFaults;
  /** Ends everything. Work under way is rejected. May be called again. */
  close(): Promise<void>;
}
