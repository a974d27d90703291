// The users, apps and partners of the load, and the receiver of webhooks, in a process of their own. Started by `run.ts`, never imported.
import { serve, settings } from '../../support/measure/control.ts';
import { type OpenLoop, type Outcome, openLoop } from '../../support/measure/open-loop.ts';
import { createActs, type Kind, kinds, type LoadSettings } from './acts.ts';
import { LoadReceiver } from './receiver.ts';

/** What came of the load since it was begun. */
export interface LoadReport {
  /** Milliseconds of every operation. */
  readonly latencies: Readonly<Record<Kind, readonly number[]>>;
  /** Why operations failed, some of them. */
  readonly failures: readonly string[];
  readonly failed: number;
  /** Transfers that were accepted and not told yet. */
  readonly untold: number;
  readonly transfers: number;
  /** From the creation of an event to its arrival, in milliseconds. */
  readonly lags: readonly number[];
  readonly rejected: number;
}

/** As the specification has it: who asks what. */
const shares: Readonly<Record<Kind, number>> = { userinfo: 0.4, exchange: 0.2, verify: 0.2, payment: 0.2 };

/** How many operations failed since the load was begun, and why one of them did. */
export interface Failed {
  readonly count: number;
  readonly example: string | null;
}

const given = settings<LoadSettings>();
const receiver = new LoadReceiver(given.webhookSecret);
const acts = createActs(given);

let rate = 0;
let loops: OpenLoop[] = [];
let outcomes = nothing();
let failures: string[] = [];
let failed = 0;

function nothing(): Record<Kind, number[]> {
  return { userinfo: [], exchange: [], verify: [], payment: [] };
}

function note(kind: Kind, { ms, failure }: Outcome): void {
  outcomes[kind].push(ms);
  if (failure === null) return;
  failed += 1;
  if (failures.length < 20) failures.push(`${kind}: ${failure}`);
}

function forget(): void {
  outcomes = nothing();
  [failures, failed] = [[], 0];
  receiver.lags = [];
}

function report(): LoadReport {
  return {
    latencies: outcomes,
    failures,
    failed,
    untold: [...acts.transfers].filter((id) => !receiver.told.has(id)).length,
    transfers: acts.transfers.size,
    lags: receiver.lags,
    rejected: receiver.rejected.length,
  };
}

serve(receiver.handler, given.receiverPort, {
  /** Fresh passports: they live five minutes. */
  passports: (fresh: readonly string[]) => acts.takePassports(fresh),
  /** Tokens for the first calls of userinfo. */
  async warmUp(exchanges: number) {
    for (let index = 0; index < exchanges; index += 1) await acts.exchange();
  },
  /** From now on so many operations a second, and nothing of before counts. */
  begin(perSecond: number) {
    forget();
    rate = perSecond;
    if (loops.length > 0) return;
    loops = kinds.map((kind) =>
      openLoop(
        () => rate * shares[kind],
        acts[kind],
        (outcome) => note(kind, outcome),
        500,
      ),
    );
  },
  /** Begins nothing more and waits for what is under way. */
  async end() {
    await Promise.all(loops.splice(0).map((loop) => loop.stop()));
    loops = [];
  },
  report,
  failed: (): Failed => ({ count: failed, example: failures[0] ?? null }),
});
