/** A number of requests in a time. */
export interface PartnerLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/**
 * Default limits of the partner API, by group of endpoints (specification, "Rate limits"). To add a group,
 * add an entry and name it in routes: the option, its page and the OpenAPI description follow.
 */
export const partnerLimits = {
  /** Verifying passports. */
  verify: { requests: 60, windowSeconds: 60 },
  /** Initiating transfers. */
  payments: { requests: 120, windowSeconds: 60 },
  /** Looking users up. */
  users: { requests: 300, windowSeconds: 60 },
  /** Reconciliation export. */
  reconciliation: { requests: 10, windowSeconds: 3600 },
  /** Everything else together. */
  other: { requests: 200, windowSeconds: 60 },
  /** Pages of the console, which keep themselves up to date. */
  console: { requests: 600, windowSeconds: 60 },
} as const satisfies { readonly [group: string]: PartnerLimit };

/** A group of endpoints that are counted together. */
export type LimitGroup = keyof typeof partnerLimits;

/**
 * Default limits of a client address per minute at the OAuth endpoints. To add a limit, add an entry and
 * count with `addressLimit` where it applies: the option and its page follow.
 */
export const addressLimits = {
  /** Authorization requests. */
  authorizeStarts: 300,
  /** Failed client authentications at the token endpoint. */
  failedClientAuthentications: 60,
  /** Uses of refresh tokens, refused ones too. A server that refreshes for more than 180,000 users in an hour needs more. */
  refreshes: 3000,
} as const satisfies { readonly [name: string]: number };
