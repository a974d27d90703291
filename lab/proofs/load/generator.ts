// Generates the load of users, apps and partners, in a process of its own. Started by `prove`, never
// imported.

import { type Credentials, type Kind, kinds, Mix } from '../../support/deployment/mix.ts';
import { openLoop } from '../../support/measure/open-loop.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import { obey, settings } from '../../support/processes/control.ts';

/** Settings of the generated load. */
export interface LoadSettings {
  /** Origins of the web processes that get the load. */
  readonly origins: readonly string[];
  readonly credentials: Credentials;
}

/** Results of the load since its start. */
export interface LoadReport {
  /** Durations of the operations, in milliseconds, by kind of operation. */
  readonly latencies: Readonly<Record<Kind, readonly number[]>>;
  readonly failed: number;
  /** Error messages of some failed operations. */
  readonly failures: readonly string[];
  /** Ids of all transfers that were accepted since the start of the generator. */
  readonly transfers: readonly string[];
}

/** Share of each operation in the load. */
const shares: Readonly<Record<Kind, number>> = { userinfo: 0.4, exchange: 0.2, verify: 0.2, payment: 0.2 };

/** Maximum wait for a response, in milliseconds. No client would wait longer. */
const patienceMs = 1_000;

const { origins, credentials } = settings<LoadSettings>();
let passports: readonly string[] = [];
let shown = 0;
const mix = new Mix(credentials, {
  origins,
  patienceMs,
  /** Authorizes as a user who has consented before, whom the provider redirects at once. */
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
    /** Stops starting operations, and waits for the running operations. */
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
  /** Replaces the passports, because each passport is valid for five minutes only. */
  takePassports(fresh: readonly string[]) {
    passports = fresh;
  },
  begin(perSecond: number) {
    load = begin(perSecond);
  },
  end: () => load?.end(),
});
