import { partnerProvider } from '../../../core/test/support/partner-api.ts';
import type { TestKey, TestProvider } from '../../../core/test/support/provider.ts';
import { OstiaryPartner, type OstiaryPartnerOptions } from '../../src/index.ts';
import { type Fault, fakeKey, faulty } from './faulty.ts';

export const payment = {
  amount: '125.00',
  currency: 'HTG',
  recipient: { kid: 'KID-TEST-APPROVED' },
} as const;

/** Makes a client whose pauses between attempts take no time and are recorded. */
export function clientOf(
  baseUrl: string,
  apiKey: string,
  options: Partial<OstiaryPartnerOptions> = {},
): { readonly ostiary: OstiaryPartner; readonly pauses: number[] } {
  const pauses: number[] = [];
  const sleep = async (ms: number): Promise<void> => void pauses.push(ms);
  return { ostiary: new OstiaryPartner({ apiKey, baseUrl, sleep, random: () => 0, ...options }), pauses };
}

/** Makes a client of a server that applies the next of `faults` to each request. */
export async function against(faults: Fault[] = [], options: Partial<OstiaryPartnerOptions> = {}) {
  const server = await faulty(faults);
  return { ...server, ...clientOf(server.origin, fakeKey, options) };
}

/** Starts a real server, with a key that has every scope, and a client for it. */
export async function partner(
  options: Parameters<typeof partnerProvider>[0] = {},
  { mode = 'test', ...clientOptions }: Partial<OstiaryPartnerOptions> & { mode?: 'live' | 'test' } = {},
): Promise<{
  readonly provider: TestProvider;
  readonly key: TestKey;
  readonly ostiary: OstiaryPartner;
  readonly pauses: number[];
}> {
  const { provider } = await partnerProvider({
    trustedProxies: ['127.0.0.1'],
    ...options,
    webhooks: { allowPrivateTargets: true, ...options.webhooks },
  });
  const key = await provider.key({ mode });
  return {
    provider,
    key,
    ...clientOf(provider.origin, key.key, { now: () => provider.clock.now(), ...clientOptions }),
  };
}

/** Returns the error with which a promise is rejected. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`no error, but ${String(error)}`);
  }
  throw new Error('it did not fail');
}

/** Collects all items of an async iterable. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
