import { z } from 'zod';
import type { Core } from '../options/context.ts';
import { findFinalEvent } from '../payments/final-event.ts';
import { transferView } from '../payments/transfer-view.ts';
import type { TimedPage } from '../ports/lists.ts';
import type { OperatorRight } from '../ports/operators.ts';
import type { Mode, Owner } from '../ports/partners.ts';
import type { TransferRecord, TransferSelection, TransferStatus } from '../ports/transfers.ts';
import { transferSchema } from '../schemas/transfer.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { checked, shown } from './checked.ts';
import { readTimedPage, type TimedRequest, type TwoWayPage } from './list-page.ts';
import { requireRight } from './rights.ts';
import { type EverywhereSearch, everywhere } from './webhook-lists.ts';

/** A transfer as the partner API returns it. */
export type PartnerTransfer = z.output<typeof transferSchema>;

/** A transfer of any partner. */
export interface ListedTransfer extends PartnerTransfer {
  /** Slug (id) of the partner that initiated the transfer. */
  readonly partner: string;
  readonly mode: Mode;
}

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

/** Filters of a list of all partners' transfers. */
export interface TransferSearch extends EverywhereSearch, Omit<TransferFilters, 'reference'> {}

/** Reads the transfers of partners, for operators. Every call needs the right `payments`. */
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
  /**
   * Lists transfers of all partners by time of creation, newest or oldest first.
   * @throws TypeError if an argument is invalid
   */
  sorted(request?: TimedRequest & TransferSearch): Promise<TwoWayPage<ListedTransfer>>;
  /** Counts the transfers that `sorted` lists. The count stops at 10,000, which means 10,000 or more. */
  countSorted(search?: TransferSearch): Promise<number>;
  /** Returns a transfer; `null` if this partner has none with the id in this mode. */
  get(owner: Owner, id: string): Promise<PartnerTransfer | null>;
  /**
   * Returns the event about the outcome of a transfer; `null` if there is none yet, or if the event was removed after
   * its retention time.
   */
  event(owner: Owner, id: string): Promise<TransferEvent | null>;
}

const filterSchema = z.strictObject({
  status: z.enum(['pending', 'completed', 'failed']).optional(),
  reference: z.string().min(1).max(255).optional(),
  from: z.date().optional(),
  to: z.date().optional(),
});

const searchSchema = everywhere.extend(filterSchema.omit({ reference: true }).shape);

/**
 * Converts the filters of a list of transfers to the form that the storage takes. @throws TypeError if a
 * filter is invalid
 */
function selectionOf(
  { partner, mode }: Pick<TransferSelection, 'partner' | 'mode'>,
  filters: z.input<typeof filterSchema>,
): TransferSelection {
  const { status = null, reference = null, from, to } = checked(filterSchema, filters);
  return { partner, mode, status, reference, from: from?.getTime() ?? null, to: to?.getTime() ?? null };
}

/** @throws TypeError if a filter is invalid */
function everywhereSelection(search: z.input<typeof searchSchema>): TransferSelection {
  const { mode, partner = null, ...filters } = checked(searchSchema, search);
  return selectionOf({ partner, mode }, filters);
}

const transferOf = (transfer: TransferRecord): PartnerTransfer =>
  transferSchema.parse(transferView(transfer));

const listedTransfer = (transfer: TransferRecord): ListedTransfer => ({
  partner: transfer.partner,
  ...transferOf(transfer),
});

const placeOf = ({ createdAt, id }: TransferRecord) => ({ time: createdAt, id });

/** @param may - rights of the person who reads the transfers */
export function transferAdministration(
  { storage }: Core,
  may: readonly OperatorRight[],
): TransferAdministration {
  const { transfers } = storage;
  return {
    async list(owner, { status, reference, from, to, ...page } = {}) {
      requireRight(may, 'payments');
      const selection = selectionOf(owner, { status, reference, from, to });
      const { rows, next, previous } = await readTimedPage(page, {
        read: (place) => transfers.list({ ...selection, ...place }),
        shown: transferOf,
        placeOf,
      });
      return { transfers: rows, next, previous };
    },

    async count(owner, filters = {}) {
      requireRight(may, 'payments');
      return transfers.count({ ...selectionOf(owner, filters), most: countedAtMost });
    },

    async sorted({ mode, partner, status, from, to, ...page } = {}) {
      requireRight(may, 'payments');
      const selection = everywhereSelection({ mode, partner, status, from, to });
      const read = (place: TimedPage) => transfers.list({ ...selection, ...place });
      return readTimedPage(page, { read, shown: listedTransfer, placeOf });
    },

    async countSorted(search = {}) {
      requireRight(may, 'payments');
      return transfers.count({ ...everywhereSelection(search), most: countedAtMost });
    },

    async get(owner, id) {
      requireRight(may, 'payments');
      const transfer = await transfers.find(owner, id);
      return transfer && transferOf(transfer);
    },

    async event(owner, id) {
      requireRight(may, 'payments');
      const transfer = await transfers.find(owner, id);
      const event = transfer && (await findFinalEvent(storage, transfer));
      return event && shown({ id: event.id, type: event.type, createdAt: event.createdAt });
    },
  };
}
