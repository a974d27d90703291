import type { RequestListener } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostSettings } from '../../../support/measure/host.ts';
import { serve, settings } from '../../../support/processes/control.ts';
import { eventId } from '../fixture.ts';

/** Parameters of a process that delivers. */
export interface ContestantSettings extends HostSettings {
  /** Port of the sink. */
  readonly sink: number;
  /** Index of the contestant's setting, from 0. */
  readonly setting: number;
  /** True if Ostiary does not notify other processes of published events. */
  readonly isSilent: boolean;
  /** First number of this process's event ids, so that ids differ between processes. */
  readonly firstNumber: number;
}

/** A published event, and its time: milliseconds since the Unix epoch, with fractions. */
export type Published = readonly [id: string, at: number];

/** Operations that a contestant must have. */
interface Contestant {
  /** Creates the objects that are needed once per database. */
  prepare(): Promise<void>;
  /** Publishes many events in batches, each with its id. */
  prefill(ids: readonly string[]): Promise<void>;
  /** Publishes one event as an application does, with this id or a generated one. */
  publish(id: string): Promise<string>;
  /** Starts to deliver. */
  start(): Promise<void>;
  /** Ends deliveries gracefully. */
  stop(): Promise<void>;
}

/** Returns the time of this machine, more precise than a millisecond. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

const batch = 500;

/** Waits until a time: with a timer as long as timers are precise enough, then actively. */
async function until(time: number): Promise<void> {
  const wait = time - preciseNow();
  if (wait > 0) await pause(wait);
}

/** Runs the commands of the benchmark with a contestant. */
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
     * Publishes with many concurrent callers, each of which waits for one event after the other. Returns
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
