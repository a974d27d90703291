// The users, apps and partners of the load, and the receiver of webhooks, in a process of their own. Started by `setScene`, never imported.
import { serve, settings } from '../../support/measure/control.ts';
import { type OpenLoop, openLoop } from '../../support/measure/open-loop.ts';
import { type Credentials, type Kind, kinds, Mix, TransferReceiver } from '../mix.ts';

/** What the load is made with. */
export interface LoadSettings {
  /** Where the receiver of webhooks listens. */
  readonly port: number;
  readonly webhookSecret: string;
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
  readonly transfers: number;
  /** Transfers that were accepted and not told yet. */
  readonly untold: number;
  /** From the creation of an event to its arrival, in milliseconds. */
  readonly lags: readonly number[];
  readonly rejected: number;
}

/** As the specification has it: who asks what. */
const shares: Readonly<Record<Kind, number>> = { userinfo: 0.4, exchange: 0.2, verify: 0.2, payment: 0.2 };

const { port, webhookSecret, origins, credentials } = settings<LoadSettings>();
const receiver = new TransferReceiver(webhookSecret);
let passports: readonly string[] = [];
const mix = new Mix(credentials, {
  origins,
  // Later nobody is there any more.
  patienceMs: 1_000,
  /** Who has consented before is sent back at once. */
  async authorize(url, { sub }) {
    const headers = { accept: 'text/html', cookie: `host=${sub}` };
    const signal = AbortSignal.timeout(1_000);
    const answer = await fetch(url, { headers, redirect: 'manual', signal });
    await answer.arrayBuffer();
    return answer.headers.get('location') ?? `${answer.status}`;
  },
  passport: (turn) => passports[turn % passports.length] ?? '',
});

let rate = 0;
let loops: OpenLoop[] = [];
let latencies: Record<Kind, number[]> = { userinfo: [], exchange: [], verify: [], payment: [] };
let failures: string[] = [];
let failed = 0;

serve(receiver.handler, port, {
  /** Fresh passports: they live five minutes. */
  takePassports(fresh: readonly string[]) {
    passports = fresh;
  },
  /** Tokens for the first calls of userinfo. */
  async warmUp(exchanges: number) {
    for (let index = 0; index < exchanges; index += 1) await mix.exchange();
  },
  /** From now on so many operations a second, and nothing of before counts. */
  begin(perSecond: number) {
    latencies = { userinfo: [], exchange: [], verify: [], payment: [] };
    [failures, failed, receiver.lags, rate] = [[], 0, [], perSecond];
    if (loops.length > 0) return;
    loops = kinds.map((kind) =>
      openLoop(
        () => rate * shares[kind],
        () => mix[kind](),
        ({ ms, failure }) => {
          latencies[kind].push(ms);
          if (failure === null) return;
          failed += 1;
          if (failures.length < 20) failures.push(`${kind}: ${failure}`);
        },
        500,
      ),
    );
  },
  /** Begins nothing more and waits for what is under way. */
  async end() {
    await Promise.all(loops.splice(0).map((loop) => loop.stop()));
  },
  report: (): LoadReport => ({
    ...{ latencies, failures, failed, lags: receiver.lags },
    untold: mix.transfers.filter((id) => !receiver.told.has(id)).length,
    transfers: mix.transfers.length,
    rejected: receiver.rejected.length,
  }),
});
