/** Maximum number of requests in a time window. */
export interface PartnerLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/**
 * Default limits of the partner API, by group of endpoints (specification, "Limits"). To add a group,
 * add an entry and name it in routes: the option, its page and the OpenAPI description follow.
 */
export const partnerLimits = {
  /** Limit of requests to verify passports. */
  verify: { requests: 60, windowSeconds: 60 },
  /** Limit of requests to initiate transfers. */
  payments: { requests: 120, windowSeconds: 60 },
  /** Limit of requests to look up users. */
  users: { requests: 300, windowSeconds: 60 },
  /** Limit of requests for the reconciliation export. */
  reconciliation: { requests: 10, windowSeconds: 3600 },
  /** Limit of requests to all other endpoints together. */
  other: { requests: 200, windowSeconds: 60 },
  /** Limit of requests of programs that take requests of an inbox and respond to them. */
  listening: { requests: 1200, windowSeconds: 60 },
  /** Limit of requests of console pages, which refresh themselves. */
  console: { requests: 600, windowSeconds: 60 },
} as const satisfies { readonly [group: string]: PartnerLimit };

/** Name of a group of partner API endpoints whose requests are counted together. */
export type LimitGroup = keyof typeof partnerLimits;

/**
 * Default limits of a client address per minute at the OAuth endpoints. To add a limit, add an entry and
 * count with `addressLimit` where it applies: the option and its page follow.
 */
export const addressLimits = {
  /**
   * Maximum number of authorization requests per minute. The same limit applies, each counted separately, to
   * the continuations of authorization requests and to requests to sign out.
   */
  authorizeStarts: 300,
  /**
   * Maximum number of pushed authorization requests per minute. A server that starts more than 3,000 sign-ins
   * in a minute needs a higher limit.
   */
  pushedRequests: 3000,
  /**
   * Maximum number of failed client authentications per minute: at the token endpoint, at introspection and
   * with pushed authorization requests together.
   */
  failedClientAuthentications: 60,
  /**
   * Maximum number of uses of refresh tokens per minute, including refused uses. A server that refreshes for
   * more than 180,000 users in an hour needs a higher limit.
   */
  refreshes: 3000,
} as const satisfies { readonly [name: string]: number };
