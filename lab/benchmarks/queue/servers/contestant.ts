import type { RequestListener } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostSettings } from '../../../support/measure/host.ts';
import { serve, settings } from '../../../support/processes/control.ts';
import { eventId } from '../fixture.ts';

/** Parameters of a process that delivers with one queue library. */
export interface ContestantSettings extends HostSettings {
  /** Port of the receiver of the webhooks. */
  readonly sink: number;
  /** Index of the queue library's setting, from 0. */
  readonly setting: number;
  /** True if Ostiary does not notify other processes of published events. */
  readonly isSilent: boolean;
  /** First number for this process's event ids, so that the ids of different processes differ. */
  readonly firstNumber: number;
}

/** A published event, and the time of publishing: milliseconds since the Unix epoch, with fractions. */
export type Published = readonly [id: string, at: number];

/** Operations that every compared queue library must offer. */
interface Contestant {
  /** Creates the database objects that the queue library needs once per database. */
  prepare(): Promise<void>;
  /** Publishes many events in batches, each event with its id. */
  prefill(ids: readonly string[]): Promise<void>;
  /** Publishes one event as an application does, with the given id or a generated one. */
  publish(id: string): Promise<string>;
  /** Starts to deliver published events. */
  start(): Promise<void>;
  /** Ends the running deliveries gracefully. */
  stop(): Promise<void>;
}

/** Returns the time of this machine, more precise than a millisecond. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

const batch = 500;

/** Waits until a point in time, with a timer. Returns at once if that time is over. */
async function until(time: number): Promise<void> {
  const wait = time - preciseNow();
  if (wait > 0) await pause(wait);
}

/** Runs the commands of the benchmark's parent process with one queue library. */
export async function serveContestant(
  contestant: Contestant,
  handler: RequestListener = (_request, response) => void response.end(),
  port = 0,
): Promise<void> {
  const { firstNumber } = settings<ContestantSettings>();
  let next = firstNumber;
  const newId = () => {
    next += 1;
    return eventId(next);
  };
  const commands = {
    prepare: () => contestant.prepare(),
    async prefill(count: number) {
      for (let left = count; left > 0; left -= batch) {
        await contestant.prefill(Array.from({ length: Math.min(batch, left) }, newId));
      }
    },
    /** Publishes events at a fixed rate, whether or not earlier events were delivered (an open loop). */
    async publishAt({ perSecond, count }: { readonly perSecond: number; readonly count: number }) {
      const begun = preciseNow();
      const published: Promise<Published>[] = [];
      for (let index = 0; index < count; index += 1) {
        await until(begun + (index * 1000) / perSecond);
        const at = preciseNow();
        published.push(contestant.publish(newId()).then((id) => [id, at]));
      }
      return Promise.all(published);
    },
    /**
     * Publishes events with many concurrent callers. Each caller publishes one event after the other. Returns
     * events per second.
     */
    async publishAll({ publishers, count }: { readonly publishers: number; readonly count: number }) {
      const begun = preciseNow();
      let left = count;
      const publish = async () => {
        for (; left > 0; await contestant.publish(newId())) left -= 1;
      };
      await Promise.all(Array.from({ length: publishers }, publish));
      return (count * 1000) / (preciseNow() - begun);
    },
    start: () => contestant.start(),
    stop: () => contestant.stop(),
  };
  await serve(handler, commands, port);
}
