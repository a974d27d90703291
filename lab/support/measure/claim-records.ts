import type { Storage } from '@ostiary/core/storage';

/**
 * A period during which a worker certainly held the claim of a delivery, from `from` to `to`, in nanoseconds
 * of the machine's monotonic clock.
 */
export interface Hold {
  readonly delivery: string;
  readonly claim: string;
  readonly attempt: number;
  readonly worker: number;
  /** Time at which the storage call that claimed the delivery had returned. */
  readonly from: string;
  /**
   * Time at which the worker first passed the result on for writing; empty before that. From then on the
   * result may be stored, even if the call fails.
   */
  to: string;
  /** True if the delivery's result was stored; `null` while that is unknown. */
  counted: boolean | null;
  /** True if the worker released the delivery without an attempt. */
  isHandedBack: boolean;
}

/** Wraps a storage and records which deliveries this process claimed, and when. */
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
