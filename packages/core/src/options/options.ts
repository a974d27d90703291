import { z } from 'zod';
import { type Catalogue, createCatalogue, type HostEventDefinition } from '../events.ts';
import { loadLanguages } from '../languages/load.ts';
import type { HostTexts, PageLanguage } from '../languages/page-language.ts';
import { addressLimits, type PartnerLimit, partnerLimits } from '../limits/request-limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { PartnerConsole } from '../ports/console.ts';
import type { Operators } from '../ports/operators.ts';
import type { PaymentRail } from '../ports/payments.ts';
import type { AddressCounts, RateLimitStore } from '../ports/rate-limits.ts';
import type { Storage } from '../ports/storage.ts';
import type { Login, UserDirectory } from '../ports/users.ts';
import { isStandardSchema } from '../schemas/standard-schema.ts';
import type { HostClaims, HostScopes, ScopeCatalog } from '../scopes/catalog.ts';
import { loadScopes } from '../scopes/load.ts';
import type { Logger } from '../telemetry/logger.ts';
import { stderrLogger } from '../telemetry/stderr-logger.ts';
import { inPlainWords } from '../text/plain-words.ts';
import { withDeadline, withDeadlines } from '../time/deadline.ts';
import { defaultOptions } from './defaults.ts';
import {
  callback,
  colour,
  eachWithDefault,
  isLanguageTag,
  isLoopback,
  knownOnly,
  logger,
  partnerLimit,
  perMinute,
  proxy,
  sealingKeys,
  serverUrl,
  storage,
  store,
} from './option-values.ts';
import type { OwnPages } from './own-pages.ts';

const userCalls = ['find', 'findByKid', 'findByPhone', 'isVisible'] as const;

// All options in one file, longer than others: each is checked and documented here, and its page is made of this text.

const schema = knownOnly({
  authUrl: serverUrl,
  baseUrl: serverUrl.optional(),
  issuer: serverUrl.optional(),
  prefix: z
    .string()
    .regex(/^[a-z][a-z0-9]{1,15}$/, 'must be 2 to 16 lower-case letters and digits, a letter first')
    .default(defaultOptions.prefix),
  storage,
  users: z.looseObject({
    find: callback(),
    findByKid: callback().optional(),
    findByPhone: callback().optional(),
    isVisible: callback().optional(),
  }),
  login: z.looseObject({
    authenticate: callback(),
    loginUrl: callback(),
    signOut: callback().optional(),
  }),
  sealingKeys,
  trustedProxies: z.array(proxy).default([]),
  theme: knownOnly({
    name: z.string().trim().min(1).max(60).default(defaultOptions.theme.name),
    logo: z
      .string()
      .regex(
        /^(data:image\/(png|jpeg|webp|svg\+xml)[;,]|\/(?![/\\]))/,
        'must be a data: image or a path on authUrl',
      )
      .max(100_000)
      .optional(),
    colour: colour.default(defaultOptions.theme.colour),
    showHandle: z.boolean().default(defaultOptions.theme.showHandle),
  }).prefault({}),
  languages: z
    .array(z.string().refine(isLanguageTag, 'must be a language tag such as pt or pt-BR'))
    .min(1)
    .refine((tags) => new Set(tags).size === tags.length, 'names one twice')
    .default([...defaultOptions.languages]),
  texts: z.record(z.string(), z.looseObject({})).default({}),
  scopes: z
    .custom<HostScopes>((value) => typeof value === 'object' && value !== null, 'must be an object')
    .default({}),
  verifyImportedSecret: callback<VerifyImportedSecret>().optional(),
  hostTimeoutSeconds: z.number().positive().max(600).default(defaultOptions.hostTimeoutSeconds),
  pages: knownOnly({ consent: callback().optional(), error: callback().optional() }).prefault({}),
  interactionUrl: callback<(interactionId: string) => string>().optional(),
  introspection: z.boolean().default(defaultOptions.introspection),
  refreshTokens: knownOnly({
    idleDays: z.number().positive().max(3650).default(defaultOptions.refreshTokens.idleDays),
    absoluteDays: z.number().positive().max(3650).default(defaultOptions.refreshTokens.absoluteDays),
  }).optional(),
  limits: knownOnly({
    store: store<AddressCounts>('consume', 'peek').optional(),
    ...eachWithDefault(addressLimits, perMinute),
    refreshesPerGrant: perMinute.default(defaultOptions.limits.refreshesPerGrant),
    unfinishedInteractions: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(defaultOptions.limits.unfinishedInteractions),
  }).prefault({}),
  payments: z
    .looseObject({
      execute: callback(),
      onContradiction: callback().optional(),
    })
    .optional(),
  partnerLimits: knownOnly({
    per: z.enum(['key', 'partner']).default(defaultOptions.partnerLimits.per),
    store: store<RateLimitStore>('consume').optional(),
    ...eachWithDefault(partnerLimits, partnerLimit),
  }).prefault({}),
  requestLog: z.enum(['off', 'test', 'all']).default(defaultOptions.requestLog),
  webhooks: knownOnly({
    allowPrivateTargets: z.boolean().default(defaultOptions.webhooks.allowPrivateTargets),
    retryDelaysSeconds: z
      .array(z.number().positive().max(604_800))
      .max(20)
      .default([...defaultOptions.webhooks.retryDelaysSeconds]),
    concurrency: z.int().min(1).max(10_000).default(defaultOptions.webhooks.concurrency),
    retentionDays: z.int().min(1).max(3650).default(defaultOptions.webhooks.retentionDays),
    resolve: callback<(hostname: string) => Promise<readonly string[]>>().optional(),
  }).prefault({}),
  events: z
    .record(
      z
        .string()
        .regex(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/, 'has to be a name such as order.shipped')
        .max(64),
      knownOnly({
        summary: z.string().max(200).optional(),
        schema: z.custom<HostEventDefinition['schema']>(isStandardSchema, 'must be a Standard Schema'),
        example: z.record(z.string(), z.unknown()),
      }),
    )
    .default({}),
  console: z
    .looseObject({
      opensWith: z.looseObject({ scope: z.string().nullable(), testOnly: z.boolean() }),
      pages: callback(),
    })
    .optional(),
  operators: z
    .looseObject({ authenticate: callback(), pages: z.looseObject({ pages: callback() }) })
    .optional(),
  telemetry: z.boolean().default(defaultOptions.telemetry),
  clock: store<Clock>('now').optional(),
  logger: logger.default(stderrLogger),
});

/** Checks a secret against an imported hash. A rejection causes a 500, like one of `users`. */
export type VerifyImportedSecret = (secret: string, hash: string) => Promise<boolean> | boolean;

/** Colours and name of the pages. */
export interface Theme {
  /** Shown on every page. @defaultValue `"Ostiary"` */
  readonly name?: string;
  /** A `data:image/…` URL, or a path on `authUrl`. Pages load nothing from other hosts. */
  readonly logo?: string;
  /** Buttons and links, such as `#1a4f8b`. @defaultValue `"#1a4f8b"` */
  readonly colour?: string;
  /** Show the handle of who is signed in beside the name. @defaultValue false */
  readonly showHandle?: boolean;
}

/** Options of `createOstiary`. Unknown ones are refused. */
export interface OstiaryOptions<Scopes extends HostScopes = HostScopes> {
  /**
   * The address of the consent screen: https, or http on loopback. May have a path. Every generated URL comes
   * from here, never from request headers.
   */
  readonly authUrl: string;
  /** The address of the API. @defaultValue `authUrl` */
  readonly baseUrl?: string;
  /** The issuer identifier (RFC 9207, OpenID Connect Discovery). @defaultValue `authUrl` */
  readonly issuer?: string;
  /** Prefix of tokens (`svc_at_…`), from which the names of headers derive too. @defaultValue `"svc"` */
  readonly prefix?: string;
  /**
   * Storage of all data: `sqliteStorage({ file })` of `@ostiary/adapter-sqlite`, or an adapter of your own.
   */
  readonly storage: Storage;
  /** Your users. */
  readonly users: UserDirectory<HostClaims<Scopes>>;
  /** Your login. */
  readonly login: Login;
  /**
   * Time for which a request waits for one of your functions: those of `users`, `login` and `operators`.
   * After it the request gets a 503, and the log names the function.
   * @defaultValue 10
   */
  readonly hostTimeoutSeconds?: number;
  /**
   * Keys that seal secrets at rest: the current one, then previous ones. 32 bytes each, or their base64url
   * encoding.
   */
  readonly sealingKeys: readonly (string | Uint8Array)[];
  /**
   * Addresses or CIDR ranges of the reverse proxies whose `X-Forwarded-For` is believed. `'unix'` is a proxy on a Unix socket, on which
   * the server listens: without it such requests have no address, which the first one logs as a warning.
   * @defaultValue none
   */
  readonly trustedProxies?: readonly string[];
  /** Appearance of the pages. */
  readonly theme?: Theme;
  /**
   * The languages of the pages: `en`, `fr`, `ht`, `es` and `pt` ship, others take their words from `texts`. A browser that asks for none
   * of them gets the first.
   * @defaultValue `['en', 'fr']`
   */
  readonly languages?: readonly string[];
  /**
   * Words of the pages, by language: all of one that does not ship, any of one that does. What is missing or has other braces than
   * the English text is refused at the start.
   */
  readonly texts?: HostTexts;
  /**
   * Additional scopes: `email`, `phone`, `address` and more claims of `profile` (`standardProfile`) to switch
   * on, and your own, with their claims for userinfo and their texts for the consent page. Clients can
   * request them once they are among their `allowedScopes`.
   */
  readonly scopes?: Scopes;
  /**
   * Pages of your own, made by functions, in the place of the consent page and of the pages of errors.
   * @defaultValue the built-in ones
   */
  readonly pages?: OwnPages;
  /**
   * The address of a consent page of your own, on the origin of `authUrl`, with the id in its path; see
   * `ostiary.interactions`.
   * @defaultValue core's page
   */
  readonly interactionUrl?: (interactionId: string) => string;
  /**
   * Enables `POST /v1/oauth/introspect` for clients that are resource servers, which ask there about access
   * tokens (RFC 7662). An API in this process calls `ostiary.tokens.verify`, which needs no option.
   * @defaultValue false
   */
  readonly introspection?: boolean;
  /**
   * Lets clients have refresh tokens: those that are allowed the scope `offline_access`, which there is then, and whose user
   * approved it. `{}` takes the lives below.
   * @defaultValue none: a client whose token has ended sends its user again
   */
  readonly refreshTokens?: RefreshTokenOptions;
  /**
   * Checks a client's secret against the hash that was imported with it, such as bcrypt's, with a library of yours. Asked until the
   * secret is presented for the first time, which stores it as every other one. Only clients that were imported need it.
   * @defaultValue none: hashes of other systems are not accepted
   */
  readonly verifyImportedSecret?: VerifyImportedSecret;
  /**
   * Limits of the OAuth endpoints. Of those per client address and minute, of IPv6 a /64 counts as one address, a /56 may do four
   * times and a /48 sixteen times as much.
   */
  readonly limits?: { readonly [Name in keyof typeof addressLimits]?: number } & {
    /**
     * Uses of the refresh tokens of one sign-in at one app in a minute, from all addresses and of all its tabs together. Beyond it
     * they are answered with 429 and `Retry-After`, and end nothing.
     * @defaultValue 60
     */
    readonly refreshesPerGrant?: number;
    /**
     * Maximum number of authorization requests, of all addresses together, that wait for their users. Further
     * requests that would wait get a 429 with `Retry-After`. Each process counts them once a second.
     * @defaultValue 100000
     */
    readonly unfinishedInteractions?: number;
    /**
     * Store of the counts of addresses, such as the result of `rateLimiterFlexible`. If it cannot be reached,
     * requests get a 503: its calls must then throw an error with `code: 'STORAGE_UNAVAILABLE'`.
     * @defaultValue the storage, where it shares counts between processes (PostgreSQL); else the memory of each process
     */
    readonly store?: AddressCounts;
  };
  /**
   * Execution of transfers. Enables the partner API, which also needs `users.findByKid` and
   * `users.findByPhone`.
   */
  readonly payments?: PaymentRail;
  /** Limits of the partner API. */
  readonly partnerLimits?: PartnerLimits;
  /**
   * Requests to the partner API that are logged for people of the partner, who see them in the console: those
   * with test keys, with their bodies but without secrets and personal data, or those with live keys too,
   * without bodies. The log keeps at most 5,000 of each partner and mode, for 7 days.
   * @defaultValue `"test"`
   */
  readonly requestLog?: 'off' | 'test' | 'all';
  /** Delivery of events to partners. */
  readonly webhooks?: WebhookOptions;
  /** Types of events of your own, by name (`order.shipped`); see `ostiary.events.publish`. */
  readonly events?: { readonly [type: string]: HostEventDefinition };
  /**
   * Pages over the partner API, for the people of a partner. `sandboxConsole()` of `@ostiary/console` puts some at
   * `{authUrl}/sandbox`: partners sign in with a test key, trigger events and see why deliveries failed. Needs `payments`.
   */
  readonly console?: PartnerConsole;
  /**
   * Pages for those who run the service: its health, partners, clients, API keys, deliveries that fail, and the audit log. `pages:
   * operatorsConsole()` of `@ostiary/console` puts them at `{authUrl}/operators`; `authenticate` says who may open them, and is asked
   * for every request.
   * @defaultValue none: nothing is answered there
   */
  readonly operators?: Operators;
  /**
   * Spans and metrics of requests, jobs and deliveries, for the providers that this process has registered with
   * `@opentelemetry/api` before. Costs nothing while it is off.
   * @defaultValue false
   */
  readonly telemetry?: boolean;
  /**
   * Destination of log lines, such as pino or `console`. Lines contain no secret of the service. Lines about
   * errors that your code throws contain message and stack. `silentLogger` logs nothing, not even errors.
   * @defaultValue warnings and errors on stderr, for people to read
   */
  readonly logger?: Logger;
  /**
   * Source of the time. A step back of up to two seconds is held back. A larger one is followed, and work
   * that waits for a later time than possible is brought forward.
   * @defaultValue the clock of the database, where many machines share one (PostgreSQL); else the machine's
   */
  readonly clock?: Clock;
}

/** Lifetimes of refresh tokens. Each use replaces the token by a new one. */
export interface RefreshTokenOptions {
  /** Days for which one that is not used lives. @defaultValue 30 */
  readonly idleDays?: number;
  /** Days after which the user must sign in again, regardless of use. @defaultValue 180 */
  readonly absoluteDays?: number;
}

/** Delivery of events to partners. */
export interface WebhookOptions {
  /**
   * Allows endpoints anywhere: private addresses, plain http, every port. For development and tests on one
   * machine; refused unless `authUrl` and `baseUrl` are loopback addresses.
   * @defaultValue false
   */
  readonly allowPrivateTargets?: boolean;
  /**
   * Seconds between an attempt that failed and the next one; one attempt more than there are waits.
   * @defaultValue `[60, 300, 1800, 7200]`
   */
  readonly retryDelaysSeconds?: readonly number[];
  /**
   * Attempts that one process makes at once at most. One partner takes half of them at most, and test mode, all partners together,
   * half.
   * @defaultValue 512
   */
  readonly concurrency?: number;
  /** Days for which events, deliveries and attempts are kept. @defaultValue 30 */
  readonly retentionDays?: number;
  /**
   * Finds every address of a host name. Each is checked, and the one that was checked is dialled.
   * @defaultValue DNS
   */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/** Limits of the partner API, by group of endpoints. */
export interface PartnerLimits extends PartnerLimitGroups {
  /**
   * Subject of the counts: a key with its successors, or a partner in one mode.
   * @defaultValue `"key"`
   */
  readonly per?: 'key' | 'partner';
  /**
   * Store of the counts, such as the result of `rateLimiterFlexible`.
   * @defaultValue the storage, where it shares counts between processes (PostgreSQL); else the memory of each process
   */
  readonly store?: RateLimitStore;
}

/** The groups of endpoints that are counted together. */
type PartnerLimitGroups = { readonly [Group in keyof typeof partnerLimits]?: PartnerLimit };

/** Options after they were checked and completed. */
export type Options = Readonly<
  Omit<
    z.output<typeof schema>,
    | 'users'
    | 'login'
    | 'pages'
    | 'payments'
    | 'events'
    | 'console'
    | 'operators'
    | 'languages'
    | 'texts'
    | 'scopes'
  >
> & {
  readonly events: Catalogue;
  readonly languages: readonly PageLanguage[];
  readonly scopes: ScopeCatalog;
  readonly baseUrl: URL;
  readonly issuer: URL;
  readonly users: UserDirectory;
  readonly login: Login;
  readonly pages: OwnPages;
  readonly payments: PaymentRail | undefined;
  readonly console: PartnerConsole | undefined;
  readonly operators: Operators | undefined;
};

/**
 * Freezes plain objects and arrays; bytes cannot be frozen, and URLs and the host's objects are not ours to
 * freeze.
 */
function deepFreeze<T>(value: T): T {
  if (
    Array.isArray(value) ||
    (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
  ) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

/** @throws TypeError that says whose option is wrong */
async function made<T>(make: () => T | Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    throw new TypeError(`createOstiary: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/**
 * Checks and completes options, and loads what they switch on.
 * @throws TypeError that names every option which is wrong, by its path
 */
export async function parseOptions(options: OstiaryOptions): Promise<Options> {
  const result = schema.safeParse(options, inPlainWords);
  if (!result.success) {
    const problems = result.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'options'}: ${message}`,
    );
    throw new TypeError(`createOstiary: ${problems.join('; ')}`);
  }
  const {
    storage,
    clock,
    logger,
    payments,
    console: _,
    operators: __,
    webhooks,
    events,
    languages,
    texts,
    scopes: hostScopes,
    limits,
    partnerLimits,
    ...plain
  } = result.data;
  const scopes = await made(() => loadScopes(hostScopes, languages, plain.refreshTokens !== undefined));
  const { findByKid, findByPhone } = options.users;
  if (payments !== undefined && (findByKid === undefined || findByPhone === undefined)) {
    throw new TypeError('createOstiary: users: the partner API (payments) needs findByKid and findByPhone');
  }
  if (options.console !== undefined && payments === undefined) {
    throw new TypeError('createOstiary: console: partners and their keys come with payments');
  }
  const { authUrl, baseUrl = authUrl, issuer = authUrl } = plain;
  if (webhooks.allowPrivateTargets && !(isLoopback(authUrl) && isLoopback(baseUrl))) {
    throw new TypeError(
      'createOstiary: webhooks.allowPrivateTargets: authUrl and baseUrl have to be loopback addresses',
    );
  }
  const { hostTimeoutSeconds, verifyImportedSecret: verify } = plain;
  return Object.freeze({
    ...deepFreeze(plain),
    baseUrl,
    issuer,
    storage,
    clock,
    logger,
    payments: options.payments,
    console: options.console,
    operators: options.operators && {
      ...withDeadlines('operators', options.operators, ['authenticate'], hostTimeoutSeconds),
      pages: options.operators.pages,
    },
    // Not in depth: a store is the host's.
    limits: Object.freeze(limits),
    partnerLimits: Object.freeze(partnerLimits),
    webhooks: deepFreeze(webhooks),
    events: await made(() => createCatalogue(events as NonNullable<OstiaryOptions['events']>)),
    scopes,
    languages: await made(() => loadLanguages(languages, texts as HostTexts, scopes.consents)),
    pages: withDeadlines('pages', options.pages ?? {}, ['consent', 'error'], hostTimeoutSeconds),
    verifyImportedSecret: verify && withDeadline('verifyImportedSecret', verify, hostTimeoutSeconds),
    users: withDeadlines('users', options.users, userCalls, hostTimeoutSeconds),
    login: withDeadlines('login', options.login, ['authenticate', 'loginUrl', 'signOut'], hostTimeoutSeconds),
  });
}
