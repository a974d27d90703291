import type { PartnerLimit, partnerLimits } from '../limits/request-limits.ts';
import type { RateLimitStore } from '../ports/rate-limits.ts';

/** Settings for the delivery of events to partners. */
export interface WebhookOptions {
  /**
   * Allows webhook endpoints, back-channel logout URLs and `jwksUri` of clients at any address: private
   * addresses, plain http, every port. For development and tests on one machine; refused unless `authUrl` and
   * `baseUrl` are loopback addresses.
   * @defaultValue false
   */
  readonly allowPrivateTargets?: boolean;
  /**
   * Seconds between a failed webhook attempt and the next one: at most 20 values, each above 0 and at most
   * 604,800. A delivery has one attempt more than the list has entries.
   * @defaultValue `[60, 300, 1800, 7200]`
   */
  readonly retryDelaysSeconds?: readonly number[];
  /**
   * Maximum number of concurrent delivery attempts of one process: 1 to 10,000. One partner uses at most half
   * of them, and so do all partners in test mode together.
   * @defaultValue 512
   */
  readonly concurrency?: number;
  /**
   * Days for which events, deliveries and attempts are stored: a whole number from 1 to 3,650. Those of test
   * mode are stored for 7 days at most.
   * @defaultValue 30
   */
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
   * Returns all IP addresses of the host name of a webhook endpoint, of a client's logout URL or `jwksUri`, or
   * of a client ID metadata document. Every address is checked, and the connection goes to an address that was
   * checked.
   * @defaultValue DNS
   */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/** Rate limits of the partner API, by group of endpoints. */
export interface PartnerLimits extends PartnerLimitGroups {
  /**
   * Owner of a limit: an API key together with the keys that replace it, or a partner in one mode. All requests
   * of the owner are counted together.
   * @defaultValue `"key"`
   */
  readonly per?: 'key' | 'partner';
  /**
   * Store for the counts of the partner API's rate limits, such as the result of `rateLimiterFlexible`.
   * @defaultValue the storage, where it shares counts between processes (PostgreSQL); else the memory of each process
   */
  readonly store?: RateLimitStore;
}

/** Rate limits for the groups of endpoints whose requests are counted together. */
type PartnerLimitGroups = { readonly [Group in keyof typeof partnerLimits]?: PartnerLimit };
