import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import { digest } from '../secrets/tokens.ts';
import { listenUrl } from './inbox-url.ts';

/** Time after its last call for which a listener counts as present, in milliseconds. */
const presenceMs = 30_000;

/** Shortest time between two records of a listener's calls, in milliseconds. */
const recordStepMs = 5_000;

/** Time without a listener after which its endpoint is removed, in milliseconds. */
const abandonedMs = 3600_000;

const recordOf = (endpointId: string): Buffer => digest(`inbox listener ${endpointId}`);

export type Listeners = ReturnType<typeof listenersOf>;

/**
 * Creates the record of listeners: programs that take the requests of an endpoint with the URL `inbox:listen`.
 * All processes share it.
 */
export function listenersOf({ storage: { sandbox, webhooks }, clock }: Pick<Core, 'storage' | 'clock'>) {
  /** Returns the time of the last call of an endpoint's listener; `null` after an hour without one. */
  async function lastCallAt(endpointId: string): Promise<number | null> {
    const record = await sandbox.find(recordOf(endpointId), clock.now());
    return record === null ? null : Number(record.at);
  }

  return {
    lastCallAt,

    /**
     * Records that a listener called, unless that was recorded a moment ago. Returns the time of the record.
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
     * Removes the endpoints of a partner that had no listener for an hour, because their program was killed
     * before it could remove them.
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
