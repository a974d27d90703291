import { addressLimits, partnerLimits } from '../limits/request-limits.ts';
import { languages } from '../scopes/consent-texts.ts';

/**
 * Default values of the options of `createOstiary`, by the path of the option. Leaves out options that have
 * no default, or whose default is not a plain value.
 *
 * @example
 * ```ts
 * import { defaultOptions } from '@ostiary/core';
 *
 * const [firstRetrySeconds] = defaultOptions.webhooks.retryDelaysSeconds;
 * console.log(firstRetrySeconds); // 60
 * ```
 */
export const defaultOptions = {
  prefix: 'svc',
  theme: { name: 'Ostiary', colour: '#1a4f8b', showHandle: false },
  languages,
  hostTimeoutSeconds: 10,
  claimsParameter: false,
  consent: { values: false },
  introspection: false,
  clientMetadataDocuments: { allowPrivateDocuments: false },
  privateKeyJwt: false,
  pushedRequests: { required: false },
  dpop: false,
  refreshTokens: { idleDays: 30, absoluteDays: 180 },
  limits: {
    ...addressLimits,
    pushedRequestsPerClient: 3000,
    refreshesPerGrant: 60,
    unfinishedInteractions: 100_000,
  },
  partnerLimits: { per: 'key', ...partnerLimits },
  requestLog: 'test',
  webhooks: {
    allowPrivateTargets: false,
    retryDelaysSeconds: [60, 300, 1800, 7200],
    concurrency: 512,
    retentionDays: 30,
    standardHeaders: false,
  },
  telemetry: false,
} as const;
