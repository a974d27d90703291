import type { AuditRecord } from './audit.ts';
/** The algorithm that signs a client's ID tokens (RFC 7518, section 3.1). */
export type SigningAlgorithm = 'RS256' | 'ES256';

/** Comparison of the port of a redirect URI with a loopback address. */
export type LoopbackPorts = 'exact' | 'any';

/** A valid or expiring secret of an OAuth client; the secret itself is never stored. */
export interface ClientSecretRecord {
  /** SHA-256 of the secret. For an imported secret that was not used yet, the original hash as UTF-8. */
  readonly digest: Uint8Array;
  /** True if another system has hashed it; `undefined` counts as `false`. */
  readonly imported?: boolean | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** Milliseconds since the Unix epoch, or `null` for a secret that does not end. */
  readonly expiresAt: number | null;
}

/** A provisioned OAuth client as it is stored. Times are milliseconds since the Unix epoch. */
export interface ClientRecord {
  readonly clientId: string;
  /** Shown to users on the consent page. */
  readonly name: string;
  /** Empty for a public client (RFC 6749, section 2.1). */
  readonly secrets: readonly ClientSecretRecord[];
  /** Compared as strings, character by character; see `loopbackPorts` for the only exception. */
  readonly redirectUris: readonly string[];
  /** `any`: the port of a loopback address is not compared (RFC 8252, section 7.3); `undefined` counts as `exact`. */
  readonly loopbackPorts?: LoopbackPorts | undefined;
  readonly allowedScopes: readonly string[];
  /** Refuse an authorization request without a PKCE challenge. */
  readonly requirePkce: boolean;
  /** Refuse a code exchange without the client secret, even with a right PKCE verifier. */
  readonly requireSecret: boolean;
  /**
   * True if the administrator vouches for this client. Consent is then remembered for all of its redirect
   * URIs.
   */
  readonly firstParty: boolean;
  /** True if it may introspect access tokens of every client (RFC 7662); `undefined` counts as `false`. */
  readonly resourceServer?: boolean | undefined;
  readonly idTokenAlg: SigningAlgorithm;
  /**
   * URIs to which users may return after they signed out, compared as redirect URIs are; `undefined` counts
   * as none.
   */
  readonly postLogoutRedirectUris?: readonly string[] | undefined;
  /** SHA-256 of the logo, base64url, which is part of its address; `undefined` counts as none. */
  readonly logo?: string | null | undefined;
  /** Pages of the app, to which the consent page leads: https. */
  readonly termsUrl?: string | null | undefined;
  readonly privacyUrl?: string | null | undefined;
  /** URI that is notified when a user has signed out. */
  readonly backchannelLogoutUri?: string | null | undefined;
  /** Slug of the partner that owns it, or `null`. */
  readonly partner: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Set while the client is disabled. */
  readonly disabledAt: number | null;
  /** Grows by one on every change; `replace` compares it. */
  readonly version: number;
}

/** A client joined with what its partner says of it. */
export interface ClientState extends ClientRecord {
  /** True if it belongs to a disabled partner. Such a client counts as disabled in every call. */
  readonly partnerDisabled: boolean;
}

/** OAuth clients. Reads see every commit of every process: nothing here may be cached. */
export interface ClientStore {
  /** Stores a new client. `false` when the id is taken; nothing is changed then. */
  insert(client: ClientRecord, audit?: AuditRecord): Promise<boolean>;

  /** Finds a client. One statement. */
  find(clientId: string): Promise<ClientState | null>;

  /** Clients whose id sorts after `after` (by code point), by id, at most `limit`. */
  list(page: { readonly after: string | null; readonly limit: number }): Promise<ClientRecord[]>;

  /**
   * Replaces the record whose version is `client.version - 1`. `false` when somebody else was faster
   * or no such client exists; nothing is changed then.
   *
   * When the new record is disabled, one transaction also revokes every grant and every consent of the
   * client (which ends all its codes and tokens). When it belongs to a partner that is disabled, every grant.
   *
   * @param logo - stored or, with `null`, removed in the same transaction; left as it is where none is given
   */
  replace(client: ClientRecord, audit?: AuditRecord, logo?: Uint8Array | null): Promise<boolean>;

  /** Returns the logo of a client, PNG; `null` if there is none. */
  findLogo(clientId: string): Promise<Uint8Array | null>;

  /**
   * Checks whether an enabled client of an enabled partner has a redirect URI of this origin
   * (`scheme://host[:port]` as browsers and web views send it, of private-use schemes too). A client with
   * `loopbackPorts: 'any'` also has the origin `http://host:*` for each of its http redirect URIs.
   */
  originRegistered(origin: string): Promise<boolean>;
}
