import type { RequestListener } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostSettings } from '../../../support/measure/host.ts';
import { serve, settings } from '../../../support/processes/control.ts';
import { eventId } from '../fixture.ts';

/** Parameters of a process that delivers. */
export interface ContestantSettings extends HostSettings {
  /** The port of the sink. */
  readonly sink: number;
  /** Which of the contestant's settings, from 0. */
  readonly setting: number;
  /** Whether Ostiary tells no other process of what it publishes. */
  readonly isSilent: boolean;
  /** The first of the numbers that this process gives to events. */
  readonly firstNumber: number;
}

/** An event that was published, and when: milliseconds since the Unix epoch, with fractions. */
export type Published = readonly [id: string, at: number];

/** What the benchmark asks of everyone who delivers. */
interface Contestant {
  /** Creates what is needed once per database. */
  prepare(): Promise<void>;
  /** Publishes many events in batches, each with its id. */
  prefill(ids: readonly string[]): Promise<void>;
  /** Publishes one event as an application does, with this id or one of its own. */
  publish(id: string): Promise<string>;
  /** Begins to deliver. */
  start(): Promise<void>;
  /** Ends deliveries in order. */
  stop(): Promise<void>;
}

/** The time as every process of this machine sees it, finer than a millisecond. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

const batch = 500;

/** Waits for the time, by a timer as long as that is precise enough. */
async function until(time: number): Promise<void> {
  const wait = time - preciseNow();
  if (wait > 0) await pause(wait);
}

/** Obeys the benchmark on behalf of a contestant. */
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
    /** Publishes at a fixed pace, whatever becomes of the events before: an open loop. */
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
    /** Publishes with so many callers, each of whom waits for one event after the other. Answers events per second. */
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
