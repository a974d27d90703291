// The users, apps and partners of the load, in a process of their own. Started by `prove`, never imported.

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

/** Results of the load since it began. */
export interface LoadReport {
  /** Time of every operation, in milliseconds. */
  readonly latencies: Readonly<Record<Kind, readonly number[]>>;
  readonly failed: number;
  /** Some of the errors with which operations failed. */
  readonly failures: readonly string[];
  /** Ids of all transfers that were accepted. */
  readonly transfers: readonly string[];
}

/** Shares of the operations, as the specification has them. */
const shares: Readonly<Record<Kind, number>> = { userinfo: 0.4, exchange: 0.2, verify: 0.2, payment: 0.2 };

/** Maximum wait for a response, in milliseconds. Later responses would reach no client. */
const patienceMs = 1_000;

const { origins, credentials } = settings<LoadSettings>();
let passports: readonly string[] = [];
let shown = 0;
const mix = new Mix(credentials, {
  origins,
  patienceMs,
  /** A user who has consented before is redirected at once. */
  async authorize(url, sub) {
    // Set the header as the balancer before the processes does: a request for another host is redirected.
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

/** Starts to make `perSecond` operations per second. */
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
    /** Stops starting operations and waits for those under way. */
    async end(): Promise<LoadReport> {
      await Promise.all(loops.map((loop) => loop.stop()));
      return { latencies, failed, failures, transfers: mix.transfers };
    },
  };
}

// Tokens for the first calls of userinfo.
for (const _ of credentials.users) await mix.exchange();

let load: ReturnType<typeof begin> | null = null;
obey({
  /** Sets fresh passports: each is valid for five minutes. */
  takePassports(fresh: readonly string[]) {
    passports = fresh;
  },
  begin(perSecond: number) {
    load = begin(perSecond);
  },
  end: () => load?.end(),
});
