import { AbortedError, OstiaryError } from './errors.ts';
import type { Answer } from './http/api-promise.ts';
import type { Connection, RequestOptions } from './options.ts';
import type { Webhooks } from './resources/webhooks.ts';
import { type Whoami, whoami } from './resources/whoami.ts';

/** Result of one check of your set-up. */
export interface DoctorCheck {
  /**
   * Name of the check: `key`, `mode`, `scopes`, `address`, `clock`, `signature`, `limit`, `webhook` followed
   * by the id of the endpoint, or `webhooks` if the endpoints could not be listed.
   */
  readonly name: string;
  /** Result of the check; `unknown` if it cannot be determined. */
  readonly status: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly message: string;
}

/** Report of `doctor()`. */
export interface DoctorReport {
  /** True if no check failed. */
  readonly ok: boolean;
  readonly checks: readonly DoctorCheck[];
  /** Owner, mode and scopes of the API key, or `null` if the request for them failed. */
  readonly whoami: Whoami | null;
  /**
   * Milliseconds by which the local clock is ahead of the server's, accurate to about a second; `null` if
   * unknown.
   */
  readonly clockSkewMs: number | null;
  /** Rate limit of most endpoints, with the remaining requests; `null` if unknown. */
  readonly limit: { readonly limit: number; readonly remaining: number; readonly resetsAt: Date } | null;
  /** Formats the checks as a table. */
  toString(): string;
}

const dayMs = 86_400_000;
const unsaid = 'the server does not say';

/** Maximum number of webhook endpoints to check, since each check costs a request. */
const mostEndpoints = 20;

/** Formats the checks of a report as a table. */
function tableOf(checks: readonly DoctorCheck[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks
    .map(({ name, status, message }) => `${name.padEnd(width)}  ${status.padEnd(7)}  ${message}`)
    .join('\n');
}

/** Runs the checks of your set-up one after the other. A failed call is a result, not an error. */
export async function examine(
  connection: Connection,
  webhooks: Webhooks,
  options?: RequestOptions,
): Promise<DoctorReport> {
  const { now, sign } = connection;
  const checks: DoctorCheck[] = [];
  const note = (name: string, status: DoctorCheck['status'], message: string): void => {
    checks.push({ name, status, message });
  };
  /** Returns the result of a call, or `null` after recording its failure. */
  async function attempt<Found>(name: string, work: () => PromiseLike<Found>): Promise<Found | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OstiaryError) || error instanceof AbortedError) throw error;
      note(name, 'failed', error.message);
      return null;
    }
  }

  const asked = now();
  const found = await attempt('key', () => whoami(connection, options).withResponse());
  const clockSkewMs = found && skewOf(found, (asked + now()) / 2);
  const limit = found && limitOf(found);
  if (found !== null) {
    const { partner, mode, key, address } = found.data;
    const { scopes, expiresAt } = key;
    const isEnding = Date.parse(expiresAt ?? '') - now() < 7 * dayMs;
    note('key', isEnding ? 'warning' : 'ok', `${key.id} of ${partner}, expires: ${expiresAt ?? 'never'}`);
    note('mode', 'ok', mode);
    note('scopes', 'ok', scopes.join(' '));
    note('address', address === null ? 'unknown' : 'ok', address ?? unsaid);
    const skew = Math.abs(clockSkewMs ?? 0);
    const status = skew > 300_000 ? 'failed' : skew > 30_000 ? 'warning' : 'ok';
    if (clockSkewMs === null) note('clock', 'unknown', unsaid);
    else note('clock', status, `${Math.round(clockSkewMs / 1000)} s ahead of the server`);
    const isMissing = key.requireSignature && sign === undefined;
    const use = isMissing ? 'the key demands it: set signingSecret' : sign ? 'used' : 'not used';
    note('signature', isMissing ? 'failed' : 'ok', use);
    if (limit === null) note('limit', 'unknown', unsaid);
    else note('limit', limit.remaining === 0 ? 'warning' : 'ok', `${limit.remaining} of ${limit.limit} left`);
    if (scopes.includes('webhooks')) {
      const page = await attempt('webhooks', () => webhooks.list(options).page());
      for (const { id, url, enabled } of page?.data.slice(0, mostEndpoints) ?? []) {
        const name = `webhook ${id}`;
        const deliveries = await attempt(name, () => webhooks.deliveries(id, { limit: 10 }, options).page());
        const tried = deliveries?.data.flatMap(({ attempts }) => attempts) ?? [];
        const last = tried.sort((a, b) => (a.at < b.at ? 1 : -1))[0];
        if (!enabled) note(name, 'warning', `disabled: ${url}`);
        else if (last !== undefined) {
          const { error, httpStatus, at } = last;
          // An attempt without a response has no status.
          const parts = [error ?? 'reached', httpStatus, at, url].filter((part) => part !== null);
          note(name, error === null ? 'ok' : 'failed', parts.join(' '));
        } else if (deliveries !== null) note(name, 'unknown', `nothing was delivered yet: ${url}`);
      }
    }
  }
  return {
    ok: checks.every(({ status }) => status !== 'failed'),
    checks,
    whoami: found?.data ?? null,
    clockSkewMs,
    limit,
    toString: () => tableOf(checks),
  };
}

/**
 * Returns by how many milliseconds the local clock is ahead of the server's; `null` if unknown. The `Date`
 * header has whole seconds. @param at - local time in the middle between request and response
 */
function skewOf({ response }: Answer<Whoami>, at: number): number | null {
  const skew = Math.round(at - Date.parse(response.headers.get('date') ?? '') - 500);
  return Number.isNaN(skew) ? null : skew;
}

function limitOf({ response: { headers } }: Answer<Whoami>): DoctorReport['limit'] {
  const [limit = 0, remaining = 0, reset = 0] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    Number(headers.get(`X-RateLimit-${name}`)),
  );
  return limit === 0 ? null : { limit, remaining, resetsAt: new Date(reset * 1000) };
}
