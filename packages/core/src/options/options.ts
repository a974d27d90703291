import { z } from 'zod';
import { type Catalogue, createCatalogue, type HostEventDefinition } from '../events.ts';
import { loadLanguages } from '../languages/load.ts';
import type { HostTexts, PageLanguage } from '../languages/page-language.ts';
import { addressLimits, type PartnerLimit, partnerLimits } from '../limits/request-limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { Operators } from '../ports/operators.ts';
import type { PartnerConsole } from '../ports/partner-console.ts';
import type { PaymentRail } from '../ports/payments.ts';
import type { AddressCounts, RateLimitStore } from '../ports/rate-limits.ts';
import type { Storage } from '../ports/storage.ts';
import type { Login, UserDirectory } from '../ports/users.ts';
import { isStandardSchema } from '../schemas/standard-schema.ts';
import type { HostClaims, HostScopes, ScopeCatalog } from '../scopes/catalog.ts';
import { contextClassWords, isContextClass } from '../scopes/context-classes.ts';
import { loadScopes } from '../scopes/load.ts';
import type { HostResources, ResourceCatalog } from '../scopes/resources.ts';
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

// Longer than other files, so that all options are checked and documented in one place. The options page is
// generated from this text.

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
    acrValues: z
      .array(z.string().refine(isContextClass, contextClassWords))
      .min(1)
      .max(100)
      .refine((values) => new Set(values).size === values.length, 'names one twice')
      .optional(),
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
  resources: z
    .record(z.string(), knownOnly({ name: z.string().trim().min(1).max(100), scopes: z.array(z.string()) }))
    .optional(),
  verifyImportedSecret: callback<VerifyImportedSecret>().optional(),
  hostTimeoutSeconds: z.number().positive().max(600).default(defaultOptions.hostTimeoutSeconds),
  pages: knownOnly({ consent: callback().optional(), error: callback().optional() }).prefault({}),
  interactionUrl: callback<(interactionId: string) => string>().optional(),
  claimsParameter: z.boolean().default(defaultOptions.claimsParameter),
  introspection: z.boolean().default(defaultOptions.introspection),
  clientMetadataDocuments: knownOnly({
    scopes: z.array(z.string()).min(1),
    allow: callback<(url: URL) => Promise<boolean> | boolean>().optional(),
    allowPrivateDocuments: z.boolean().default(defaultOptions.clientMetadataDocuments.allowPrivateDocuments),
  }).optional(),
  pushedRequests: knownOnly({
    required: z.boolean().default(defaultOptions.pushedRequests.required),
  }).optional(),
  privateKeyJwt: z.boolean().default(defaultOptions.privateKeyJwt),
  dpop: z.boolean().default(defaultOptions.dpop),
  refreshTokens: knownOnly({
    idleDays: z.number().positive().max(3650).default(defaultOptions.refreshTokens.idleDays),
    absoluteDays: z.number().positive().max(3650).default(defaultOptions.refreshTokens.absoluteDays),
  }).optional(),
  limits: knownOnly({
    store: store<AddressCounts>('consume', 'peek').optional(),
    ...eachWithDefault(addressLimits, perMinute),
    pushedRequestsPerClient: perMinute.default(defaultOptions.limits.pushedRequestsPerClient),
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
    standardHeaders: z.boolean().default(defaultOptions.webhooks.standardHeaders),
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

/**
 * Checks a client secret against an imported hash. If it rejects, the request gets a 500, as for functions of
 * `users`.
 */
export type VerifyImportedSecret = (secret: string, hash: string) => Promise<boolean> | boolean;

/** Colours and name of the pages. */
export interface Theme {
  /** Name of the service, shown on every page: 1 to 60 characters. @defaultValue `"Ostiary"` */
  readonly name?: string;
  /**
   * Logo of the service: a `data:image/…` URL, or a path on `authUrl`. Pages load nothing from other hosts.
   */
  readonly logo?: string;
  /** Colour of buttons and links: `#` and six hexadecimal digits. @defaultValue `"#1a4f8b"` */
  readonly colour?: string;
  /** Shows the handle of the signed-in user beside the name. @defaultValue false */
  readonly showHandle?: boolean;
}

/** Options of `createOstiary`. Unknown options are refused. */
export interface OstiaryOptions<Scopes extends HostScopes = HostScopes> {
  /**
   * Base URL of the OAuth endpoints and pages: https, or http on loopback. May have a path. All generated
   * URLs are built from it, never from request headers.
   */
  readonly authUrl: string;
  /** Base URL of the API. @defaultValue `authUrl` */
  readonly baseUrl?: string;
  /** The issuer identifier (RFC 9207, OpenID Connect Discovery). @defaultValue `authUrl` */
  readonly issuer?: string;
  /** Prefix of tokens (`svc_at_…`) and of header names: 2 to 16 lower-case letters and digits, a letter first. @defaultValue `"svc"` */
  readonly prefix?: string;
  /**
   * Storage of all data, such as `sqliteStorage({ file })` of `@ostiary/adapter-sqlite`, `postgresStorage({
   * connectionString })` of `@ostiary/adapter-postgres`, or your own adapter.
   */
  readonly storage: Storage;
  /** Directory of your users. */
  readonly users: UserDirectory<HostClaims<Scopes>>;
  /** Sign-in of your server, with which users authenticate. */
  readonly login: Login;
  /**
   * Seconds for which a request waits for one of your functions in `users`, `login` and `operators`: above 0, at most 600. After that the request gets a 503, and the log names the function.
   * @defaultValue 10
   */
  readonly hostTimeoutSeconds?: number;
  /**
   * Keys that encrypt secrets at rest: the current key first, then previous ones; one to ten keys, of 32
   * bytes each or their base64url encoding.
   */
  readonly sealingKeys: readonly (string | Uint8Array)[];
  /**
   * Addresses or CIDR ranges of the reverse proxies whose `X-Forwarded-For` is trusted. `'unix'` trusts a
   * proxy that connects over a Unix socket. Without it, such requests have no address; the first one logs a
   * warning.
   * @defaultValue none
   */
  readonly trustedProxies?: readonly string[];
  /** Name and appearance of the pages. */
  readonly theme?: Theme;
  /**
   * Languages of the pages. `en`, `fr`, `ht`, `es` and `pt` are built in; others need `texts`. A browser that
   * accepts none of them gets the first.
   * @defaultValue `['en', 'fr']`
   */
  readonly languages?: readonly string[];
  /**
   * Texts of the pages, by language: all texts of a language that is not built in, any of a built-in one. At
   * start, missing texts are refused, and so are texts whose placeholders differ from the English text.
   */
  readonly texts?: HostTexts;
  /**
   * Additional scopes: enables `email`, `phone`, `address` and further claims of `profile`
   * (`standardProfile`), and defines your own scopes with their claims for userinfo and texts for the consent
   * page. A client can request a scope once it is among the client's `allowedScopes`.
   */
  readonly scopes?: Scopes;
  /**
   * APIs for which apps request access tokens (RFC 8707), each by its URI, such as `https://api.example.com/v1`: its name for the
   * consent page, and its scopes, which apps can request together with it only. A token for one API is refused by the others; see
   * `ostiary.tokens.verify`.
   * @defaultValue none: the parameter `resource` is ignored
   */
  readonly resources?: HostResources;
  /**
   * Functions that render your own pages instead of the consent page and the error pages.
   * @defaultValue the built-in pages
   */
  readonly pages?: OwnPages;
  /**
   * Returns the URL of your own consent page, on the origin of `authUrl` and with the id in its path; see
   * `ostiary.interactions`.
   * @defaultValue the built-in consent page
   */
  readonly interactionUrl?: (interactionId: string) => string;
  /**
   * Accepts the parameter `claims` of authorization requests (OpenID Connect Core, section 5.5). Requested claims that the
   * approved scopes cover go into the ID token too, and an essential `acr` must be met. Without the option, `claims` is ignored.
   * @defaultValue false
   */
  readonly claimsParameter?: boolean;
  /**
   * Enables `POST /v1/oauth/introspect`, where clients marked as resource servers can check access tokens
   * (RFC 7662). An API in this process calls `ostiary.tokens.verify` instead, which needs no option.
   * @defaultValue false
   */
  readonly introspection?: boolean;
  /**
   * Enables client authentication with the client's own key instead of a secret (`private_key_jwt`: RFC 7523;
   * OpenID Connect Core, section 9), for clients with the setting `jwks` or `jwksUri`.
   * @defaultValue false
   */
  readonly privateKeyJwt?: boolean;
  /**
   * Enables pushed authorization requests: clients may send their requests to `POST /v1/oauth/par` before
   * they redirect the browser (RFC 9126). With `{}`, pushing is required only of clients with the setting
   * `requirePushedRequests`.
   * @defaultValue none: there is no such endpoint
   */
  readonly pushedRequests?: {
    /** Refuses all authorization requests that were not pushed, whatever the client. @defaultValue false */
    readonly required?: boolean;
  };
  /**
   * Enables tokens that are bound to a client's key (DPoP, RFC 9449), so that a stolen token is useless
   * without the key. A client that sends a proof to the token endpoint gets a bound token. Clients with the
   * setting `requireDpop` must send one.
   * @defaultValue false
   */
  readonly dpop?: boolean;
  /**
   * Enables refresh tokens: a client gets one if it may use the scope `offline_access`, which this option
   * adds, and the user approved that scope, or if it has the setting `refreshWithoutOfflineAccess`. `{}` uses
   * the default lifetimes.
   * @defaultValue none: when an access token expires, the client sends its user through authorization again
   */
  readonly refreshTokens?: RefreshTokenOptions;
  /**
   * Accepts apps that no administrator provisioned, such as assistants that use MCP. Their `client_id` is the
   * https URL of a client ID metadata document (draft-ietf-oauth-client-id-metadata-document), which is read
   * when a user arrives with it. Such apps are public clients. Users are asked for consent every time, and
   * see the host name of the URL.
   * @defaultValue none: only provisioned clients are known
   */
  readonly clientMetadataDocuments?: ClientMetadataDocumentOptions;
  /**
   * Checks a client's secret against the hash that was imported with the client, such as a bcrypt hash, with
   * a library of your choice. Called until the secret is first presented; then its SHA-256 is stored instead.
   * Needed only for imported clients.
   * @defaultValue none: hashes of other systems are not accepted
   */
  readonly verifyImportedSecret?: VerifyImportedSecret;
  /**
   * Limits of the OAuth endpoints. Limits per client address count requests per minute. For IPv6 a /64 counts
   * as one address, a /56 may use four times and a /48 sixteen times the limit.
   */
  readonly limits?: { readonly [Name in keyof typeof addressLimits]?: number } & {
    /**
     * Maximum number of authorization requests that one client with a secret or keys may push per minute,
     * from all addresses.
     * @defaultValue 3000
     */
    readonly pushedRequestsPerClient?: number;
    /**
     * Uses of the refresh tokens of one sign-in at one app in a minute, from all addresses and browser tabs
     * together. From 1 to 1,000,000. Further uses get a 429 with `Retry-After` and do not revoke anything.
     * @defaultValue 60
     */
    readonly refreshesPerGrant?: number;
    /**
     * Maximum number of authorization requests of all addresses together that wait for their users: 1 to 10,000,000. Further
     * requests that would wait get a 429 with `Retry-After`. Each process reads the number once a second.
     * @defaultValue 100000
     */
    readonly unfinishedInteractions?: number;
    /**
     * Store for the counts per address, such as the result of `rateLimiterFlexible`. If it cannot be reached,
     * its calls must throw an error with `code: 'STORAGE_UNAVAILABLE'`, and requests get a 503.
     * @defaultValue the storage, where it shares counts between processes (PostgreSQL); else the memory of each process
     */
    readonly store?: AddressCounts;
  };
  /**
   * Executes transfers. Enables the partner API, which also needs `users.findByKid` and `users.findByPhone`.
   */
  readonly payments?: PaymentRail;
  /** Limits of the partner API. */
  readonly partnerLimits?: PartnerLimits;
  /**
   * Requests to the partner API that are logged for the partner's people, who see them in the console. `test`
   * logs requests with test keys, with bodies but without secrets and personal data. `all` also logs requests
   * with live keys, without bodies. The log keeps at most 5,000 requests of each partner and mode, for 7
   * days.
   * @defaultValue `"test"`
   */
  readonly requestLog?: 'off' | 'test' | 'all';
  /** Settings for the delivery of events to partners. */
  readonly webhooks?: WebhookOptions;
  /** Your own event types, by name (`order.shipped`); see `ostiary.events.publish`. */
  readonly events?: { readonly [type: string]: HostEventDefinition };
  /**
   * Pages on top of the partner API for the people of a partner. `sandboxConsole()` of `@ostiary/console`
   * serves such pages at `{authUrl}/sandbox`: partners sign in with a test key, trigger events and see why
   * deliveries failed. Needs `payments`.
   */
  readonly console?: PartnerConsole;
  /**
   * Pages for the operators of the service: health, partners, clients, API keys, failing deliveries, and the
   * audit log. `pages: operatorsConsole()` of `@ostiary/console` serves them at `{authUrl}/operators`.
   * `authenticate` decides who may open them, and is called for every request.
   * @defaultValue none: there are no such pages
   */
  readonly operators?: Operators;
  /**
   * Enables spans and metrics of requests, jobs and deliveries, for the providers that this process
   * registered with `@opentelemetry/api` before. Costs nothing while off.
   * @defaultValue false
   */
  readonly telemetry?: boolean;
  /**
   * Destination of log lines, such as pino or `console`. Lines never contain a secret of the service. Lines
   * about errors that your code throws contain message and stack. `silentLogger` logs nothing, not even
   * errors.
   * @defaultValue warnings and errors on stderr, for people to read
   */
  readonly logger?: Logger;
  /**
   * Source of the time. If it goes back by up to two seconds, time stands still for that long. A larger step
   * back is followed, and work that would then wait too long is brought forward.
   * @defaultValue the clock of the database, where many machines share one (PostgreSQL); else the machine's
   */
  readonly clock?: Clock;
}

/** Lifetimes of refresh tokens. Each use replaces the token by a new one. */
export interface RefreshTokenOptions {
  /** Days after which an unused refresh token expires: above 0, at most 3,650. @defaultValue 30 */
  readonly idleDays?: number;
  /** Days after which the user must sign in again, even if tokens were used: above 0, at most 3,650. @defaultValue 180 */
  readonly absoluteDays?: number;
}

/** Settings for clients whose `client_id` is the URL of a metadata document. */
export interface ClientMetadataDocumentOptions {
  /** Scopes that clients with a metadata document may request. */
  readonly scopes: readonly string[];
  /**
   * Decides whether a client is accepted, by the URL that is its `client_id`. Called for every authorization
   * request and every exchange of a code or refresh token, possibly several times.
   * @defaultValue every URL is accepted
   */
  readonly allow?: (url: URL) => Promise<boolean> | boolean;
  /**
   * Reads documents from any address: private addresses, plain http, every port. For development and tests on
   * one machine; refused unless `authUrl` and `baseUrl` are loopback addresses.
   * @defaultValue false
   */
  readonly allowPrivateDocuments?: boolean;
}

/** Settings for the delivery of events to partners. */
export interface WebhookOptions {
  /**
   * Allows endpoints at any address: private addresses, plain http, every port. For development and tests on
   * one machine; refused unless `authUrl` and `baseUrl` are loopback addresses.
   * @defaultValue false
   */
  readonly allowPrivateTargets?: boolean;
  /**
   * Seconds between a failed attempt and the next one: at most 20 values, each above 0 and at most 604,800. A delivery has one attempt more than the list has
   * entries.
   * @defaultValue `[60, 300, 1800, 7200]`
   */
  readonly retryDelaysSeconds?: readonly number[];
  /**
   * Maximum number of concurrent delivery attempts of one process: 1 to 10,000. One partner takes at most half of them; so
   * does test mode, all partners together.
   * @defaultValue 512
   */
  readonly concurrency?: number;
  /** Days for which events, deliveries and attempts are stored: a whole number from 1 to 3,650. @defaultValue 30 */
  readonly retentionDays?: number;
  /**
   * Adds the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` to every delivery, so that
   * libraries for Standard Webhooks can verify it. The signing key is the base64-decoded part of a `whsec_`
   * secret, or the bytes of any other secret. With this option, a `whsec_` secret must be the base64 of 24 to
   * 64 bytes.
   * @defaultValue false
   */
  readonly standardHeaders?: boolean;
  /**
   * Returns all IP addresses of a host name. Every address is checked, and the connection goes to an address
   * that was checked.
   * @defaultValue DNS
   */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/** Rate limits of the partner API, by group of endpoints. */
export interface PartnerLimits extends PartnerLimitGroups {
  /**
   * Subject of the counts: an API key together with its successors, or a partner in one mode.
   * @defaultValue `"key"`
   */
  readonly per?: 'key' | 'partner';
  /**
   * Store for the counts, such as the result of `rateLimiterFlexible`.
   * @defaultValue the storage, where it shares counts between processes (PostgreSQL); else the memory of each process
   */
  readonly store?: RateLimitStore;
}

/** Limits for the groups of endpoints that are counted together. */
type PartnerLimitGroups = { readonly [Group in keyof typeof partnerLimits]?: PartnerLimit };

/** Options after validation, with all defaults filled in. */
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
    | 'resources'
  >
> & {
  readonly events: Catalogue;
  readonly languages: readonly PageLanguage[];
  readonly scopes: ScopeCatalog;
  readonly resources: ResourceCatalog | undefined;
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
 * Freezes plain objects and arrays recursively. Leaves out bytes, which cannot be frozen, and URLs and
 * objects of the host, which others may change.
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

/** Loads the option `resources`. @throws TypeError if it is invalid */
async function resourceCatalog(given: HostResources, scopes: ScopeCatalog): Promise<ResourceCatalog> {
  const { loadResources } = await import('../scopes/resources.ts');
  return loadResources(given, scopes);
}

/** Runs a function that checks or makes part of the options. @throws TypeError that names `createOstiary` as the source of a wrong option */
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
 * Validates options, fills in defaults, and loads the modules of enabled features.
 * @throws TypeError that names every wrong option by its path
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
    resources,
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
  const documents = plain.clientMetadataDocuments;
  if (documents?.allowPrivateDocuments && !(isLoopback(authUrl) && isLoopback(baseUrl))) {
    throw new TypeError(
      'createOstiary: clientMetadataDocuments.allowPrivateDocuments: authUrl and baseUrl have to be loopback addresses',
    );
  }
  const unknownScope = documents?.scopes.find((name) => !scopes.has(name));
  if (unknownScope !== undefined) {
    throw new TypeError(
      `createOstiary: clientMetadataDocuments.scopes: ${unknownScope} is no scope; there are ${scopes.names.join(', ')}`,
    );
  }
  const { hostTimeoutSeconds, verifyImportedSecret: verify } = plain;
  const { acrValues } = plain.login;
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
    // Freeze only the outer object: `store` belongs to the host.
    limits: Object.freeze(limits),
    partnerLimits: Object.freeze(partnerLimits),
    webhooks: deepFreeze(webhooks),
    events: await made(() => createCatalogue(events as NonNullable<OstiaryOptions['events']>)),
    scopes,
    resources: resources && (await made(() => resourceCatalog(resources, scopes))),
    languages: await made(() => loadLanguages(languages, texts as HostTexts, scopes.consents)),
    pages: withDeadlines('pages', options.pages ?? {}, ['consent', 'error'], hostTimeoutSeconds),
    clientMetadataDocuments:
      documents &&
      Object.freeze({
        ...documents,
        allow:
          documents.allow &&
          withDeadline('clientMetadataDocuments.allow', documents.allow, hostTimeoutSeconds),
      }),
    verifyImportedSecret: verify && withDeadline('verifyImportedSecret', verify, hostTimeoutSeconds),
    users: withDeadlines('users', options.users, userCalls, hostTimeoutSeconds),
    login: Object.freeze({
      ...withDeadlines('login', options.login, ['authenticate', 'loginUrl', 'signOut'], hostTimeoutSeconds),
      ...(acrValues !== undefined && { acrValues }),
    }),
  });
}
