import type { AuditRecord } from './audit.ts';

/** Right of a session of the live portal: to see its pages, or also to change endpoints and deliver again. */
export type PortalRights = 'view' | 'manage';

/**
 * A link to the live portal of a partner and, once the link was used, the session that it opened. Times are
 * milliseconds since the Unix epoch.
 */
export interface PortalSessionRecord {
  /** Unique id: `ps_…`. It names the link and its session in lists and the audit log, and opens nothing. */
  readonly id: string;
  /** Slug of the partner. */
  readonly partner: string;
  readonly rights: PortalRights;
  /** Name of the person or program that made the link, as in the audit log. */
  readonly madeBy: string;
  readonly createdAt: number;
  /** Time at which the link was used; `null` if it was not. */
  readonly openedAt: number | null;
  /** Time at which the link expires or, once it was used, its session. */
  readonly expiresAt: number;
}

/**
 * Stores links to the live portal, and their sessions. A row has the digest of the link's secret until the link is
 * used, and from then on that of the session's secret.
 */
export interface PortalStore {
  /**
   * Stores a link. Returns `false` and changes nothing if the partner is unknown or disabled, or the id or
   * digest is taken.
   */
  insert(link: PortalSessionRecord & { readonly digest: Uint8Array }, audit?: AuditRecord): Promise<boolean>;

  /**
   * Returns the link or session with this digest; `null` if it is unknown or expired (`expiresAt <= now`), or
   * its partner is disabled.
   */
  find(digest: Uint8Array, now: number): Promise<PortalSessionRecord | null>;

  /**
   * Uses a link: replaces its digest and its end by those of the session. Returns `false` and changes nothing if
   * `find` would not return the link, or it was used. Of parallel calls at most one returns `true`.
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

  /** Lists the links and sessions of a partner that have not expired, latest `createdAt` first, then by id. */
  list(partner: string, now: number): Promise<PortalSessionRecord[]>;

  /** Removes a link or session of a partner. Returns `false` if there is none with this id. */
  remove(partner: string, id: string, audit?: AuditRecord): Promise<boolean>;
}
