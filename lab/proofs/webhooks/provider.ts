import { type HostEventDefinition, type OstiaryOptions, silentLogger } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';

/** Whose events they are. */
export const owner = { partner: 'acme', mode: 'live' } as const;

/** The secret of every endpoint. */
export const secret = 'whsec_0123456789abcdef';

/** Endpoints of a partner; each takes a type of event of its own. */
export const endpoints = 20;

/** The type of event that goes to one endpoint. */
export const typeOf = (endpoint: number): string => `proof.endpoint${endpoint}`;

const anything: HostEventDefinition = {
  schema: { '~standard': { version: 1, vendor: 'proof', validate: (value) => ({ value }) } },
  example: {},
};

/** Options of every process of the proof: endpoints on this machine, and short waits between attempts. */
export function options(storage: Storage, sealingKey: string, now: () => number): OstiaryOptions {
  return {
    authUrl: 'http://localhost:1',
    storage,
    sealingKeys: [sealingKey],
    users: { find: () => null, findByKid: () => null, findByPhone: () => null },
    login: { authenticate: () => null, loginUrl: () => '/login' },
    payments: { execute: async () => ({ status: 'pending' }) },
    webhooks: { allowPrivateTargets: true, retryDelaysSeconds: [0.05, 0.1, 0.2, 0.4] },
    events: Object.fromEntries(
      Array.from({ length: endpoints }, (_, endpoint) => [typeOf(endpoint), anything]),
    ),
    clock: { now },
    // Receivers misbehave on purpose.
    logger: silentLogger,
  };
}
