import type { Storage } from '@ostiary/core/storage';

/** That a worker held a delivery for certain from `from` to `to`, in nanoseconds of the machine's one monotonic clock. */
export interface Hold {
  readonly delivery: string;
  readonly claim: string;
  readonly attempt: number;
  readonly worker: number;
  /** When the claim had answered. */
  readonly from: string;
  /**
   * When the result was handed over to be written, for the first time: also where no answer came it may have been written
   * then. Empty while it was not.
   */
  to: string;
  /** Whether the result counted; `null` while nobody knows. */
  counted: boolean | null;
  /** Whether it was given back without an attempt. */
  isHandedBack: boolean;
}

/** A storage that remembers what this process held and when. */
export function recorded(storage: Storage): { readonly storage: Storage; readonly takeHolds: () => Hold[] } {
  const holds: Hold[] = [];
  const open = new Map<string, Hold>();
  const { deliveries } = storage;
  return {
    takeHolds() {
      open.clear();
      return holds.splice(0);
    },
    storage: {
      ...storage,
      deliveries: {
        ...deliveries,
        async claim(request) {
          const claimed = await deliveries.claim(request);
          const from = String(process.hrtime.bigint());
          for (const { id, claimId, attempt } of claimed) {
            const hold: Hold = {
              delivery: id,
              claim: claimId,
              attempt,
              worker: process.pid,
              from,
              to: '',
              counted: null,
              isHandedBack: false,
            };
            holds.push(hold);
            open.set(`${id} ${claimId}`, hold);
          }
          return claimed;
        },
        async finish(results) {
          const to = String(process.hrtime.bigint());
          const found = results.map(({ id, claimId }) => open.get(`${id} ${claimId}`));
          for (const [index, hold] of found.entries()) {
            if (hold === undefined) continue;
            hold.to ||= to;
            hold.isHandedBack = results[index]?.attempt === null;
          }
          const counted = await deliveries.finish(results);
          for (const [index, hold] of found.entries()) {
            if (hold !== undefined) hold.counted = counted[index] ?? false;
          }
          return counted;
        },
      },
    },
  };
}
