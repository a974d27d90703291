import { randomBytes } from 'node:crypto';
import type { Ostiary } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';
import { assemble } from '../../../packages/core/src/ostiary.ts';
import { countCalls } from './calls-under-way.ts';
import type { Outside } from './outside.ts';
import type { Process, World } from './world.ts';

/** Id of the only user in the clock proof. */
export const sub = 'user-1';
export const user = {
  ...{ sub, kid: 'KID-1', handle: 'ana', name: 'Ana', role: 'member', country: 'HT' },
  createdAt: '2024-01-01T00:00:00.000Z',
};

/** Limit of an API key's requests in the rate-limit group `users`. */
export const limit = { requests: 3, windowMs: 60_000 };

const manyRequests = { requests: 1_000_000, windowSeconds: 60 };
const logger = { debug() {}, info() {}, warn() {}, error() {} };

/** One simulated Ostiary process of the clock proof. */
export interface Running extends Process {
  readonly ostiary: Ostiary;
  readonly storage: Storage;
  /** Returns the number of running calls to the process's storage. */
  callsUnderWay(): number;
  /** Running round of the process's worker; `null` if no round runs. */
  work: Promise<unknown> | null;
}

/** Calls the partner API of one process. */
type Call = (process: Running, method: string, path: string, body?: object) => Promise<Response>;

export type Installation = Awaited<ReturnType<typeof install>>;

/**
 * Starts two Ostiary processes on one database, with a partner, an API key, a webhook endpoint, and an OAuth
 * client.
 */
export async function install(
  ends: AsyncDisposableStack,
  { startProcess }: World,
  { rail, client: webhookClient }: Outside,
  storageOf: () => Storage,
) {
  const sealingKeys = [randomBytes(32)];
  const start = async (): Promise<Running> => {
    const process = await startProcess();
    const { storage, callsUnderWay } = countCalls(storageOf());
    const options = {
      ...{
        authUrl: 'https://id.example',
        storage,
        sealingKeys,
        clock: process.clock,
        payments: rail,
        logger,
      },
      users: { find: () => user, findByKid: () => user, findByPhone: () => null },
      login: { authenticate: () => null, loginUrl: () => '/login' },
      partnerLimits: {
        users: { requests: limit.requests, windowSeconds: limit.windowMs / 1_000 },
        ...{ payments: manyRequests, verify: manyRequests },
      },
    };
    const ostiary = await assemble(options, { webhookClient });
    ends.defer(() => ostiary.close());
    return Object.assign(process, { ostiary, storage, callsUnderWay, work: null });
  };
  const processes = [await start(), await start()] as const;
  const { admin } = processes[0].ostiary;
  await admin.partners.create({ slug: 'acme', name: 'Acme' });
  const { key } = await admin.apiKeys.issue({
    ...{ partner: 'acme', mode: 'live' },
    scopes: ['payments:write', 'users:read', 'identity:verify', 'webhooks'],
  });
  const { client } = await admin.clients.create({
    ...{ name: 'App', redirectUris: ['https://app.example/cb'], allowedScopes: ['openid', 'profile'] },
  });

  const call: Call = (process, method, path, body) =>
    process.ostiary.fetch(
      new Request(`https://id.example/v1/partner/${path}`, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  const secret = `whsec_${randomBytes(32).toString('hex')}`;
  const endpoint = { url: 'https://8.8.8.8/hook', events: ['*'], secret };
  const registered = await call(processes[0], 'POST', 'webhooks', endpoint);
  if (registered.status !== 201) throw new Error(`no endpoint: ${await registered.text()}`);
  return { processes, call, clientId: client.clientId };
}
