import { type HostEventDefinition, type OstiaryOptions, type PaymentRail, silentLogger } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';

/** Partner that owns the events and transfers that the programs in lab/proofs make. */
export const partner = 'acme';

/** Secret of every webhook endpoint. */
export const secret = 'whsec_0123456789abcdef';

/** Event type of the application; its events go to every endpoint that a stage registers in their mode. */
export const eventType = 'proof.happened';

/** Event types whose events each go to a single endpoint. */
export const endpointTypes = Array.from({ length: 20 }, (_, index) => `proof.endpoint${index}`);

export const authUrl = 'http://localhost:1';

const anything: HostEventDefinition = {
  schema: { '~standard': { version: 1, vendor: 'proof', validate: (value) => ({ value }) } },
  example: {},
};

const enough = { requests: 1_000_000, windowSeconds: 1 };

/** Rate limit of user look-ups, which is the only limit that the proofs reach. */
export const usersLimit = { requests: 60, windowSeconds: 60 };

/**
 * Simulated time, the same in all processes. If simulated time runs faster than real time, the lease of a
 * killed process expires sooner.
 */
export interface Time {
  /** Factor by which the simulated time is faster than real time; 1 for real time. */
  readonly speed: number;
  /** Time at which simulated and real time were equal, in milliseconds since the Unix epoch. */
  readonly origin: number;
}

/** Returns the current simulated time. */
function nowIn({ speed, origin }: Time): number {
  return speed === 1 ? Date.now() : Math.round(origin + (Date.now() - origin) * speed);
}

const machineTime: Time = { speed: 1, origin: 0 };

/** Makes the Ostiary options of every process of a proof, the administrator's process included. */
export function options(
  storage: Storage,
  {
    sealingKey,
    time = machineTime,
    rail,
  }: {
    readonly sealingKey: string;
    readonly time?: Time;
    readonly rail?: PaymentRail;
  },
): OstiaryOptions {
  const startedAt = new Date(Date.now() - 60_000);
  const user = (sub: string) => ({
    sub,
    kid: sub,
    role: 'member',
    country: 'HT',
    createdAt: '2024-03-01T12:00:00.000Z',
    name: 'Ana',
    handle: sub,
    ...({ kycStatus: 'approved', kycTier: 2 } as const),
  });
  return {
    authUrl,
    storage,
    sealingKeys: [sealingKey],
    users: { find: user, findByKid: user, findByPhone: () => null },
    login: {
      authenticate(request) {
        const sub = /(?:^|; )host=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
        return sub === undefined ? null : { sub, authenticatedAt: startedAt };
      },
      loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    },
    limits: {
      authorizeStarts: 1_000_000,
      failedClientAuthentications: 1_000_000,
      refreshes: 1_000_000,
      refreshesPerGrant: 1_000_000,
      pushedRequests: 1_000_000,
      pushedRequestsPerClient: 1_000_000,
    },
    partnerLimits: { verify: enough, payments: enough, other: enough, users: usersLimit },
    refreshTokens: {},
    ...{ pushedRequests: {}, privateKeyJwt: true },
    dpop: true,
    payments: rail ?? { execute: async () => ({ status: 'pending' }) },
    webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [0.2, 0.4, 1, 2, 4, 8, 16] },
    events: Object.fromEntries([eventType, ...endpointTypes].map((type) => [type, anything])),
    // Silent, because the faults are intended.
    logger: silentLogger,
    // At real time, no clock is passed, so that the process follows the database's.
    ...(time.speed === 1 ? {} : { clock: { now: () => nowIn(time) } }),
  };
}
