import type { HostEventDefinition } from '../events.ts';
import type { HostTexts } from '../languages/page-language.ts';
import type { addressLimits } from '../limits/request-limits.ts';
import type { Clock } from '../ports/clock.ts';
import type { HostSecrets } from '../ports/host-secrets.ts';
import type { Notify } from '../ports/notices.ts';
import type { Operators } from '../ports/operators.ts';
import type { PartnerConsole } from '../ports/partner-console.ts';
import type { PaymentRail } from '../ports/payments.ts';
import type { AddressCounts } from '../ports/rate-limits.ts';
import type { Storage } from '../ports/storage.ts';
import type { Login, UserDirectory } from '../ports/users.ts';
import type { HostClaims, HostScopes } from '../scopes/catalog.ts';
import type { HostResources } from '../scopes/resources.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { HostPages } from './host-pages.ts';
import type {
  ClientMetadataDocumentOptions,
  RefreshTokenOptions,
  Theme,
  VerifyImportedSecret,
} from './oauth-options.ts';
import type { PartnerLimits, WebhookOptions } from './partner-options.ts';

/** Options of `createOstiary`. Unknown options are refused. */
export interface OstiaryOptions<Scopes extends HostScopes = HostScopes> {
  /**
   * Base URL of the OAuth endpoints and pages: https, or http on loopback. It may have a path. All generated
   * URLs are built from it, never from request headers.
   */
  readonly authUrl: string;
  /** Base URL of the partner API and of the OAuth API endpoints. @defaultValue `authUrl` */
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
  /** Functions with which Ostiary reads your users. */
  readonly users: UserDirectory<HostClaims<Scopes>>;
  /** Functions with which Ostiary uses the sign-in of your server. */
  readonly login: Login;
  /**
   * Seconds for which a request or a worker waits for one of your functions in `users`, `login`, `operators`,
   * `hostSecrets` and `pages`, for `clientMetadataDocuments.allow`, `verifyImportedSecret` and
   * `payments.onContradiction`: above 0, at most 600. After that a request gets a 503 (after `pages.error`, the
   * built-in error page), a worker tries again later, and the log names the function.
   * `payments.onContradiction` is not called again, and its caller continues.
   * @defaultValue 10
   */
  readonly hostTimeoutSeconds?: number;
  /**
   * Keys that encrypt secrets at rest: the current key first, then previous ones; one to ten keys, of 32
   * bytes each or their base64url encoding.
   */
  readonly sealingKeys: readonly (string | Uint8Array)[];
  /**
   * Functions for secrets of your own that you encrypt with keys derived from `sealingKeys`, so that Ostiary
   * counts them and encrypts them again after a change of the sealing keys, together with its own secrets.
   * @defaultValue none: only Ostiary's own secrets are counted and encrypted again
   */
  readonly hostSecrets?: HostSecrets;
  /**
   * IP addresses or CIDR ranges of the reverse proxies whose `X-Forwarded-For` is trusted. `'unix'` trusts a
   * proxy that connects over a Unix socket. Without `'unix'`, requests on a Unix socket have no client
   * address, and the first of them logs a warning.
   * @defaultValue none
   */
  readonly trustedProxies?: readonly string[];
  /** Name and appearance of the pages. */
  readonly theme?: Theme;
  /**
   * Languages of the pages. `en`, `fr`, `ht`, `es` and `pt` are built in; any other language needs `texts`. A
   * browser that accepts none of the listed languages gets the first.
   * @defaultValue `['en', 'fr']`
   */
  readonly languages?: readonly string[];
  /**
   * Texts of the pages, by language: all texts of a language that is not built in, any texts of a built-in
   * language. At start, missing texts are refused, and so are texts whose placeholders differ from the
   * English text.
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
  readonly pages?: HostPages;
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
  /** Settings for the content of the built-in consent page. */
  readonly consent?: {
    /**
     * Shows on the consent page the user's own data of each scope that the app would see, such as the name
     * and the balance.
     * @defaultValue false
     */
    readonly values?: boolean;
  };
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
    /** Refuses every authorization request that was not pushed, from all clients. @defaultValue false */
    readonly required?: boolean;
  };
  /**
   * Enables tokens that are bound to a client's key (DPoP, RFC 9449), so that a stolen token is useless
   * without the key. A client that sends a DPoP proof to the token endpoint gets a bound token. Clients with
   * the setting `requireDpop` must send a proof.
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
   * Compares a client's secret with the hash that was imported with the client, such as a bcrypt hash, with a
   * library of your choice. Called until the client first sends the right secret; then its SHA-256 is stored
   * instead, unless the secret has fewer than 20 characters. Needed only for imported clients.
   * @defaultValue none: hashes of other systems are not accepted
   */
  readonly verifyImportedSecret?: VerifyImportedSecret;
  /**
   * Limits of the OAuth endpoints. Limits per client address apply to each minute. For IPv6 a /64 counts
   * as one address, a /56 may use four times and a /48 sixteen times the limit.
   */
  readonly limits?: { readonly [Name in keyof typeof addressLimits]?: number } & {
    /**
     * Maximum number of authorization requests that one client with a secret or keys may push per minute,
     * from all addresses: 1 to 1,000,000. Further requests get a 429 with `Retry-After`.
     * @defaultValue 3000
     */
    readonly pushedRequestsPerClient?: number;
    /**
     * Maximum number of uses of the refresh tokens of one sign-in at one app in a minute, from all addresses
     * and browser tabs together. From 1 to 1,000,000. Further uses get a 429 with `Retry-After` and do not
     * revoke anything.
     * @defaultValue 60
     */
    readonly refreshesPerGrant?: number;
    /**
     * Maximum number of authorization requests that wait for their users (sign-in or consent), of all
     * addresses together: 1 to 10,000,000. Further requests get a 429 with `Retry-After`. The option also
     * limits, separately, the pushed requests that have not expired. Each process queries the current numbers
     * at most once a second.
     * @defaultValue 100000
     */
    readonly unfinishedInteractions?: number;
    /**
     * Store for the counts of the OAuth limits, such as the result of `rateLimiterFlexible`. If it cannot be
     * reached, its calls must throw an error with `code: 'STORAGE_UNAVAILABLE'`, and requests get a 503.
     * @defaultValue the storage, where it shares counts between processes (PostgreSQL); else the memory of each process
     */
    readonly store?: AddressCounts;
  };
  /**
   * Executes transfers. Enables the partner API, which also needs `users.findByKid` and `users.findByPhone`.
   */
  readonly payments?: PaymentRail;
  /** Rate limits of the partner API. */
  readonly partnerLimits?: PartnerLimits;
  /**
   * Selects which requests to the partner API are logged, for the partner's people to see in the console.
   * `test` logs requests with test keys, with bodies but without secrets and personal data. `all` also logs
   * requests with live keys, without bodies. The log keeps at most 5,000 requests of each partner and mode,
   * for 7 days.
   * @defaultValue `"test"`
   */
  readonly requestLog?: 'off' | 'test' | 'all';
  /** Settings for the delivery of events to partners. */
  readonly webhooks?: WebhookOptions;
  /** Your own event types, by name (`order.shipped`); see `ostiary.events.publish`. */
  readonly events?: { readonly [type: string]: HostEventDefinition };
  /**
   * Web pages for the people of a partner, in addition to the partner API. `sandboxConsole()` of
   * `@ostiary/console` serves such pages at `{authUrl}/sandbox`: partners sign in with a test key, trigger
   * events and see why deliveries failed. A live portal at `{authUrl}/portal` shows live data to people with
   * a link from `ostiary.admin.portal`. The option `console` needs the option `payments`.
   */
  readonly console?: PartnerConsole;
  /**
   * Web pages for the operators of the service: health, partners, clients, API keys, failing deliveries, and
   * the audit log. `pages: operatorsConsole()` of `@ostiary/console` serves them at `{authUrl}/operators`.
   * Your function `authenticate` decides who may open them, and is called for every request.
   * @defaultValue none: there are no such pages
   */
  readonly operators?: Operators;
  /**
   * Function that gets notices of what a person should know: an endpoint has been failing for an hour, a
   * delivery was given up, an endpoint works again, an API key ends in 14 days, a user connected an app, a
   * signing key was rotated. A worker calls the function at least once for each notice, and waits for ten
   * seconds. If the function rejects or takes longer, it is called again after 1, 5 and 30 minutes, and after
   * 2, 6, 12, 24 and 24 hours; after the last failure the notice is dropped, with an error in the log.
   * `notice.id` is the same in each call, so that you can drop repetitions. Give the option to every process,
   * and start a worker.
   * @defaultValue none: there are no notices
   */
  readonly notify?: Notify;
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
   * Source of the current time. If this clock goes back by up to two seconds, Ostiary's time stands still
   * until the clock has caught up. A larger step back is followed, and work that would then wait too long is
   * brought forward.
   * @defaultValue the clock of the database, where many machines share one (PostgreSQL); else the machine's
   */
  readonly clock?: Clock;
}
