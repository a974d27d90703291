// The users, apps and partners of the load, in a process of their own. Started by `prove`, never imported.

import { openLoop } from '../../support/measure/open-loop.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import { obey, settings } from '../../support/processes/control.ts';
import { type Credentials, type Kind, kinds, Mix } from '../mix.ts';

/** What the load is made with. */
export interface LoadSettings {
  /** Web processes. */
  readonly origins: readonly string[];
  readonly credentials: Credentials;
}

/** What came of the load since it was begun. */
export interface LoadReport {
  /** Milliseconds of every operation. */
  readonly latencies: Readonly<Record<Kind, readonly number[]>>;
  readonly failed: number;
  /** Why operations failed, some of them. */
  readonly failures: readonly string[];
  /** Ids of all transfers that were accepted. */
  readonly transfers: readonly string[];
}

/** As the specification has it: who asks what. */
const shares: Readonly<Record<Kind, number>> = { userinfo: 0.4, exchange: 0.2, verify: 0.2, payment: 0.2 };

/** Later nobody is there any more. */
const patienceMs = 1_000;

const { origins, credentials } = settings<LoadSettings>();
let passports: readonly string[] = [];
let shown = 0;
const mix = new Mix(credentials, {
  origins,
  patienceMs,
  /** Who has consented before is sent back at once. */
  async authorize(url, sub) {
    // As the balancer before the processes would say it: a request for another host is redirected.
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

/** Begins to make so many operations a second. */
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
    /** Begins nothing more and waits for what is under way. */
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
  /** Fresh passports: they live five minutes. */
  takePassports(fresh: readonly string[]) {
    passports = fresh;
  },
  begin(perSecond: number) {
    load = begin(perSecond);
  },
  end: () => load?.end(),
});
