// Generates the load of users, apps and partners, in a process of its own. Started by `prove`, never
// imported.

import { openLoop } from '../../support/measure/open-loop.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import { obey, settings } from '../../support/processes/control.ts';
import { type Credentials, type Kind, kinds, Mix } from '../mix.ts';

/** Settings of the load. */
export interface LoadSettings {
  /** Origins of the web processes. */
  readonly origins: readonly string[];
  readonly credentials: Credentials;
}

/** Results of the load since it started. */
export interface LoadReport {
  /** Duration of each operation, in milliseconds, by kind. */
  readonly latencies: Readonly<Record<Kind, readonly number[]>>;
  readonly failed: number;
  /** Errors of some failed operations. */
  readonly failures: readonly string[];
  /** Ids of all accepted transfers. */
  readonly transfers: readonly string[];
}

/** Shares of the operations, as the specification has them. */
const shares: Readonly<Record<Kind, number>> = { userinfo: 0.4, exchange: 0.2, verify: 0.2, payment: 0.2 };

/** Maximum wait for a response, in milliseconds. A client would not wait longer. */
const patienceMs = 1_000;

const { origins, credentials } = settings<LoadSettings>();
let passports: readonly string[] = [];
let shown = 0;
const mix = new Mix(credentials, {
  origins,
  patienceMs,
  /** A user who has consented before is redirected at once. */
  async authorize(url, sub) {
    // Set the header as a balancer would: a request for another host is redirected.
    const forwarded = { 'x-forwarded-host': new URL(authUrl).host };
    const headers = { ...forwarded, accept: 'text/html', cookie: `host=${sub}` };
    const signal = AbortSignal.timeout(patienceMs);
    const answer = await fetch(url, { headers, redirect: 'manual', signal });
    await answer.arrayBuffer();
    return answer.headers.get('location') ?? `${answer.status}`;
  },
  passport() {
    shown += 1;
    return passports[shown % passports.length] ?? '';
  },
});

/** Starts to make `perSecond` operations every second. */
function begin(perSecond: number) {
  const latencies: Record<Kind, number[]> = { userinfo: [], exchange: [], verify: [], payment: [] };
  const failures: string[] = [];
  let failed = 0;
  const loops = kinds.map((kind) =>
    openLoop(
      perSecond * shares[kind],
      () => mix[kind](),
      ({ ms, failure }) => {
        latencies[kind].push(ms);
        if (failure === null) return;
        failed += 1;
        if (failures.length < 20) failures.push(`${kind}: ${failure}`);
      },
    ),
  );
  return {
    /** Stops starting operations, and waits for the running ones. */
    async end(): Promise<LoadReport> {
      await Promise.all(loops.map((loop) => loop.stop()));
      return { latencies, failed, failures, transfers: mix.transfers };
    },
  };
}

// Get tokens for the first userinfo requests.
for (const _ of credentials.users) await mix.exchange();

let load: ReturnType<typeof begin> | null = null;
obey({
  /** Replaces the passports, since each is valid for five minutes only. */
  takePassports(fresh: readonly string[]) {
    passports = fresh;
  },
  begin(perSecond: number) {
    load = begin(perSecond);
  },
  end: () => load?.end(),
});
