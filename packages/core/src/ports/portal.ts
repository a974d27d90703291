import type { AuditRecord } from './audit.ts';

/**
 * Right of a live portal session: to see the portal's pages (`view`), or also to register, change and remove
 * endpoints and deliver again (`manage`).
 */
export type PortalRights = 'view' | 'manage';

/**
 * A link to the live portal of a partner and, once the link was used, the session that it opened. Times are
 * milliseconds since the Unix epoch.
 */
export interface PortalSessionRecord {
  /**
   * Unique id of the link and its session: `ps_…`. Lists and the audit log name the id, which opens nothing.
   */
  readonly id: string;
  /** Slug of the partner. */
  readonly partner: string;
  readonly rights: PortalRights;
  /** Name of the person or program that made the link, as in the audit log. */
  readonly madeBy: string;
  readonly createdAt: number;
  /** Time at which the link was used; `null` if the link was not used yet. */
  readonly openedAt: number | null;
  /** Time at which the unused link expires, or the session of a used link. */
  readonly expiresAt: number;
}

/**
 * Stores links to the live portal, and their sessions. A row contains the digest of the link's secret until
 * the link is used, and from then on the digest of the session's secret.
 */
export interface PortalStore {
  /**
   * Stores a link to the live portal. Returns `false` and changes nothing if the partner is unknown or
   * disabled, or the id or digest is taken.
   */
  insert(link: PortalSessionRecord & { readonly digest: Uint8Array }, audit?: AuditRecord): Promise<boolean>;

  /**
   * Returns the portal link or session with this digest; `null` if it is unknown or expired (`expiresAt <=
   * now`), or its partner is disabled.
   */
  find(digest: Uint8Array, now: number): Promise<PortalSessionRecord | null>;

  /**
   * Uses up a link to the live portal: the session's digest and end replace those of the link. Returns
   * `false` and changes nothing if `find` would not return the link, or the link was used. Of parallel calls
   * at most one returns `true`.
   */
  open(
    use: {
      readonly digest: Uint8Array;
      readonly sessionDigest: Uint8Array;
      readonly now: number;
      readonly expiresAt: number;
    },
    audit?: AuditRecord,
  ): Promise<boolean>;

  /**
   * Lists the portal links and sessions of a partner that have not expired, latest `createdAt` first, then by
   * id.
   */
  list(partner: string, now: number): Promise<PortalSessionRecord[]>;

  /** Removes a portal link or session of a partner. Returns `false` if the partner has none with this id. */
  remove(partner: string, id: string, audit?: AuditRecord): Promise<boolean>;
}
