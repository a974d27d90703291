import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import { digest } from '../secrets/tokens.ts';
import { listenUrl } from './inbox-url.ts';

/**
 * Time after the last call of a program that takes inbox requests during which the program counts as present,
 * in milliseconds.
 */
const presenceMs = 30_000;

/** Shortest time between two writes of a program's last call, in milliseconds. */
const recordStepMs = 5_000;

/**
 * Time without calls of a program after which its `inbox:listen` endpoint counts as abandoned, in
 * milliseconds. Abandoned endpoints are removed when their partner registers another one.
 */
const abandonedMs = 3600_000;

const recordOf = (endpointId: string): Buffer => digest(`inbox listener ${endpointId}`);

export type Listeners = ReturnType<typeof listenersOf>;

/**
 * Creates the record of listeners: programs that take the requests of an endpoint with the URL
 * `inbox:listen`. All processes share the record.
 */
export function listenersOf({ storage: { sandbox, webhooks }, clock }: Pick<Core, 'storage' | 'clock'>) {
  /**
   * Returns the recorded time of the last call of the program that takes an endpoint's requests; `null` if
   * there was no call within the last hour.
   */
  async function lastCallAt(endpointId: string): Promise<number | null> {
    const record = await sandbox.find(recordOf(endpointId), clock.now());
    return record === null ? null : Number(record.at);
  }

  return {
    lastCallAt,

    /**
     * Records that a program called for requests of an inbox, unless that was recorded a moment ago. Returns
     * the time of the record.
     * @param last - time of the last record; `null` if there is none
     */
    async called(endpointId: string, last: number | null): Promise<number> {
      const now = clock.now();
      if (last !== null && Math.abs(now - last) < recordStepMs) return last;
      await sandbox.save(recordOf(endpointId), { at: now }, now + abandonedMs);
      return now;
    },

    /** Checks whether a program takes the requests of an endpoint now. */
    async isPresent(endpointId: string): Promise<boolean> {
      const last = await lastCallAt(endpointId);
      return last !== null && Math.abs(clock.now() - last) < presenceMs;
    },

    /**
     * Removes the `inbox:listen` endpoints of a partner and mode that have not changed and for which no
     * program has called for an hour, because their program was killed before it could remove them.
     */
    async removeAbandoned(owner: Owner): Promise<void> {
      const now = clock.now();
      for (const { id, url, updatedAt } of await webhooks.list(owner)) {
        const isOld = url === listenUrl && updatedAt <= now - abandonedMs;
        if (isOld && (await lastCallAt(id)) === null) await webhooks.remove(owner, id, now);
      }
    },
  };
}
