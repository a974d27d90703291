import { z } from 'zod';
import type { Core } from '../options/context.ts';
import { findFinalEvent } from '../payments/final-event.ts';
import { transferView } from '../payments/transfer.ts';
import type { Owner } from '../ports/partners.ts';
import type { TransferRecord, TransferSelection, TransferStatus } from '../ports/transfers.ts';
import { transferSchema } from '../schemas/transfer.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { checked, shown } from './checked.ts';
import { readTimedPage, type TimedRequest } from './list-page.ts';

/** A transfer as the partner API returns it. */
export type PartnerTransfer = z.output<typeof transferSchema>;

/** Event that reported to the partner how a transfer ended. */
export interface TransferEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
}

/** Filters of a list of transfers. Without filters, the list has all transfers of the partner and mode. */
export interface TransferFilters {
  readonly status?: TransferStatus;
  /** The partner's own `reference` of the transfer; only an exact match is listed. */
  readonly reference?: string;
  /** Earliest time of creation of the transfers to list, included. */
  readonly from?: Date;
  /** Latest time of creation of the transfers to list, excluded. */
  readonly to?: Date;
}

/** Reads the transfers of partners, for operators. */
export interface TransferAdministration {
  /**
   * Lists transfers of a partner, newest first unless `descending` is false. Pass `next` as `after` to get the
   * following page, or `previous` as `before` to go back. Each is `null` at its end of the list.
   * @throws TypeError if an argument is invalid
   */
  list(
    owner: Owner,
    request?: TimedRequest & TransferFilters,
  ): Promise<{
    readonly transfers: readonly PartnerTransfer[];
    readonly next: string | null;
    readonly previous: string | null;
  }>;
  /** Counts transfers of a partner, up to 10,000. @throws TypeError if an argument is invalid */
  count(owner: Owner, filters?: TransferFilters): Promise<number>;
  /** Returns a transfer; `null` if this partner has none with the id in this mode. */
  get(owner: Owner, id: string): Promise<PartnerTransfer | null>;
  /**
   * Returns the event about the outcome of a transfer; `null` if there is none yet, or if it is not among the
   * 1,000 newest events of its type.
   */
  event(owner: Owner, id: string): Promise<TransferEvent | null>;
}

const filterSchema = z.strictObject({
  status: z.enum(['pending', 'completed', 'failed']).optional(),
  reference: z.string().min(1).max(255).optional(),
  from: z.date().optional(),
  to: z.date().optional(),
});

/**
 * Converts the filters of a list of transfers to the form that the storage takes. @throws TypeError if a
 * filter is invalid
 */
function selectionOf({ partner, mode }: Owner, filters: z.input<typeof filterSchema>): TransferSelection {
  const { status = null, reference = null, from, to } = checked(filterSchema, filters);
  return { partner, mode, status, reference, from: from?.getTime() ?? null, to: to?.getTime() ?? null };
}

const transferOf = (transfer: TransferRecord): PartnerTransfer =>
  transferSchema.parse(transferView(transfer));

export function transferAdministration({ storage }: Core): TransferAdministration {
  const { transfers } = storage;
  return {
    async list(owner, { status, reference, from, to, ...page } = {}) {
      const selection = selectionOf(owner, { status, reference, from, to });
      const { rows, next, previous } = await readTimedPage(page, {
        read: (place) => transfers.list({ ...selection, ...place }),
        shown: transferOf,
        placeOf: ({ createdAt, id }) => ({ time: createdAt, id }),
      });
      return { transfers: rows, next, previous };
    },

    count: async (owner, filters = {}) =>
      transfers.count({ ...selectionOf(owner, filters), most: countedAtMost }),

    async get(owner, id) {
      const transfer = await transfers.find(owner, id);
      return transfer && transferOf(transfer);
    },

    async event(owner, id) {
      const transfer = await transfers.find(owner, id);
      const event = transfer && (await findFinalEvent(storage, transfer));
      return event && shown({ id: event.id, type: event.type, createdAt: event.createdAt });
    },
  };
}
