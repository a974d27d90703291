import type { AuditRecord } from './audit.ts';
import type { NameSearch, SortedPage } from './lists.ts';

/** The algorithm that signs a client's ID tokens (RFC 7518, section 3.1). */
export type SigningAlgorithm = 'RS256' | 'ES256';

/** Rule for comparing the port of a loopback redirect URI with the registered one. */
export type LoopbackPorts = 'exact' | 'any';

/** A secret of an OAuth client, of which only a hash is stored. The secret is valid until `expiresAt`. */
export interface ClientSecretRecord {
  /**
   * SHA-256 of the secret. For a secret that was imported as the hash of another system, this member is that
   * hash as UTF-8, until the first use of the secret or, if the secret is shorter than 20 characters, for
   * good.
   */
  readonly digest: Uint8Array;
  /** True if the digest is still the hash of another system; `undefined` counts as `false`. */
  readonly imported?: boolean | undefined;
  /** Time at which the secret was created, in milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Milliseconds since the Unix epoch at which the secret expires; `null` if it does not expire. */
  readonly expiresAt: number | null;
}

/**
 * Algorithm of a signature made by a client (RFC 7518, RFC 8037). `Ed25519` is the name in RFC 9864 for
 * `EdDSA` with that curve.
 */
export type ClientAlgorithm = 'ES256' | 'PS256' | 'EdDSA' | 'Ed25519';

/** Public key of a client (RFC 7517), with the members needed to verify a signature. */
export interface ClientJwk {
  readonly kty: 'EC' | 'RSA' | 'OKP';
  readonly kid?: string;
  readonly alg?: ClientAlgorithm;
  readonly use?: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
}

/** Set of a client's public keys. */
export interface ClientJwks {
  readonly keys: readonly ClientJwk[];
}

/** Security profile of a client: `fapi2` is the FAPI 2.0 Security Profile of the OpenID Foundation. */
export type ClientProfile = 'fapi2';

/** A registered OAuth client as it is stored. Times are milliseconds since the Unix epoch. */
export interface ClientRecord {
  readonly clientId: string;
  /** Name of the client, shown to users on the consent page. */
  readonly name: string;
  /**
   * Form of the name by which lists are sorted and searched: lower-case words without accents. `undefined` counts as
   * `''`.
   */
  readonly searchName?: string | undefined;
  /** Secrets of the client; empty for a public client (RFC 6749, section 2.1), and for a client with keys. */
  readonly secrets: readonly ClientSecretRecord[];
  /**
   * Public keys (JWK Set) that verify the client's assertions (`private_key_jwt`), instead of a secret;
   * `null` or `undefined` if the client has no keys, or has them at `jwksUri`.
   */
  readonly jwks?: ClientJwks | null | undefined;
  /** URL of a document with the client's public keys, instead of `jwks`. */
  readonly jwksUri?: string | null | undefined;
  /** True if authorization requests that were not pushed are refused (RFC 9126); `undefined` counts as `false`. */
  readonly requirePushedRequests?: boolean | undefined;
  /** Allowed redirect URIs, compared character by character; `loopbackPorts` defines the only exception. */
  readonly redirectUris: readonly string[];
  /**
   * `any` ignores the port of a loopback redirect URI (RFC 8252, section 7.3); `undefined` counts as `exact`.
   */
  readonly loopbackPorts?: LoopbackPorts | undefined;
  readonly allowedScopes: readonly string[];
  /**
   * Value of `scope` for authorization requests that have none; `undefined` and `null` mean that there is no
   * default.
   */
  readonly defaultScope?: string | null | undefined;
  /**
   * Scopes among the allowed ones that a user may leave out on the consent page; `undefined` counts as an
   * empty list.
   */
  readonly optionalScopes?: readonly string[] | undefined;
  /** True if authorization requests without a PKCE challenge are refused. */
  readonly requirePkce: boolean;
  /**
   * True if token requests without the client secret are refused, even a code exchange with a correct PKCE
   * verifier.
   */
  readonly requireSecret: boolean;
  /**
   * True if the administrator trusts this client (first-party). A remembered consent then covers all its
   * redirect URIs.
   */
  readonly firstParty: boolean;
  /**
   * True if every code exchange issues a refresh token, even without `offline_access`, provided that the
   * option `refreshTokens` is set; `undefined` counts as `false`.
   */
  readonly refreshWithoutOfflineAccess?: boolean | undefined;
  /**
   * True if the client may introspect access tokens of every client (RFC 7662); `undefined` counts as
   * `false`.
   */
  readonly resourceServer?: boolean | undefined;
  /**
   * True if token requests without a DPoP proof are refused (RFC 9449, section 5.2); `undefined` counts as `false`.
   */
  readonly requireDpop?: boolean | undefined;
  /** Security profile whose rules the client must follow; `null` and `undefined` mean none. */
  readonly profile?: ClientProfile | null | undefined;
  readonly idTokenAlg: SigningAlgorithm;
  /**
   * URIs to which users may return after signing out, compared as redirect URIs are; `undefined` counts as an
   * empty list.
   */
  readonly postLogoutRedirectUris?: readonly string[] | undefined;
  /** SHA-256 of the logo as base64url, used in the logo's URL; `null` and `undefined` mean no logo. */
  readonly logo?: string | null | undefined;
  /** HTTPS URL of the app's terms of service, linked from the consent page. */
  readonly termsUrl?: string | null | undefined;
  readonly privacyUrl?: string | null | undefined;
  /**
   * URI that receives a logout token when a user has signed out, or `admin.users.end` has ended the user's
   * sessions (OpenID Connect Back-Channel Logout 1.0).
   */
  readonly backchannelLogoutUri?: string | null | undefined;
  /** Slug of the partner that owns the client; `null` if no partner does. */
  readonly partner: string | null;
  /** Document that describes the client, if `clientId` is the URL of a client ID metadata document. */
  readonly document?: ClientDocument | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Time at which the client was disabled; `null` while it is enabled. */
  readonly disabledAt: number | null;
  /**
   * Version of the record, one higher after every change. `replace` compares it to detect concurrent changes.
   */
  readonly version: number;
}

/** Data of a client that comes from its client ID metadata document instead of an administrator. */
export interface ClientDocument {
  /** Name that the metadata document claims, which has not been checked; `null` if it claims none. */
  readonly claimedName: string | null;
  /** Time until which an authorization request uses the stored client without reading the document again. */
  readonly freshUntil: number;
}

/** A client joined with the state of its partner. */
export interface ClientState extends ClientRecord {
  /** True if the client's partner is disabled. Every call then treats the client as disabled too. */
  readonly partnerDisabled: boolean;
}

/** Stores OAuth clients. Reads see every commit of every process, so adapters must not cache. */
export interface ClientStore {
  /** Stores a new client. Returns `false` and changes nothing if the id is taken. */
  insert(client: ClientRecord, audit?: AuditRecord): Promise<boolean>;

  /** Returns a client with its partner's state; `null` for an unknown id. Runs one statement. */
  find(clientId: string): Promise<ClientState | null>;

  /**
   * Lists clients by id (in code point order), starting after the id `after`, at most `limit`. Leaves out
   * clients with metadata documents, which `ClientDocumentStore` lists.
   */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<ClientRecord[]>;

  /** Lists clients by `searchName` or `createdAt`, then by id. Leaves out clients with metadata documents. */
  sorted(page: SortedPage): Promise<ClientRecord[]>;

  /**
   * Lists clients that have a word in `searchName` beginning with `words`, sorted by `searchName`. The search
   * covers the clients that `sorted` lists.
   */
  named(search: NameSearch): Promise<ClientRecord[]>;

  /** Counts the clients, without those with metadata documents. Counting stops at `limit`. */
  count(limit: number): Promise<number>;

  /**
   * Replaces the client record whose version is `client.version - 1`. Returns `false` and changes nothing if
   * the client does not exist or has another version, because of a concurrent change.
   *
   * If the new record is disabled, the same transaction revokes all grants and consents of the client, and with
   * them all its codes and tokens. If the client's partner is disabled, it revokes all grants of the client.
   *
   * @param logo - PNG to store in the same transaction; `null` removes the logo, `undefined` keeps it
   */
  replace(client: ClientRecord, audit?: AuditRecord, logo?: Uint8Array | null): Promise<boolean>;

  /** Returns the logo of a client as PNG bytes; `null` if it has no logo. */
  findLogo(clientId: string): Promise<Uint8Array | null>;

  /**
   * Checks whether an enabled client, whose partner (if any) is enabled too, has a redirect URI of this
   * origin (`scheme://host[:port]` as browsers and web views send it, also for private-use schemes). A client
   * with `loopbackPorts: 'any'` also has the origin `http://host:*` for each of its http redirect URIs.
   */
  originRegistered(origin: string): Promise<boolean>;
}
