import type { z } from 'zod';
import type { Core } from '../options/context.ts';
import { transferView } from '../payments/transfer.ts';
import type { Owner } from '../ports/partners.ts';
import { transferSchema } from '../schemas/transfer.ts';

/** A transfer as the partner API returns it. */
export type PartnerTransfer = z.output<typeof transferSchema>;

/** Reads the transfers of partners. */
export interface TransferAdministration {
  /** Returns a transfer; `null` if the partner has no such transfer in this mode. */
  get(owner: Owner, id: string): Promise<PartnerTransfer | null>;
}

export function transferAdministration({ storage: { transfers } }: Core): TransferAdministration {
  return {
    async get({ partner, mode }, id) {
      const found = await transfers.find({ partner, mode }, id);
      return found === null ? null : transferSchema.parse(transferView(found));
    },
  };
}
