import { z } from 'zod';
import type { exportColumns } from '../payments/export-formats.ts';
import { amountField, component, currency, field, text, time } from '../schemas/fields.ts';

const column = {
  id: text('Id of the transfer.', 'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
  reference: text('The partner’s own name for the transfer.', 'order-1017').nullable(),
  status: text('Final status of the transfer: `completed` or `failed`.', 'completed'),
  amount: amountField,
  currency,
  recipientKid: text('Public id of the recipient.', 'KID-TEST-APPROVED'),
  description: text('The partner’s text for the recipient.', 'Rent of March').nullable(),
  failureCode: text(
    'Code of the reason why the transfer failed; `null` if the transfer was completed.',
    'recipient_closed',
  )
    .nullable()
    .meta({ examples: [null] }),
  createdAt: time('Time at which the transfer was initiated.'),
  completedAt: time(
    'Time at which the transfer was completed; `null` if the transfer failed.',
    '2026-01-01T12:00:01.000Z',
  ).nullable(),
  updatedAt: time(
    'Time at which the transfer became final. The transfer is listed on the UTC day of this time.',
    '2026-01-01T12:00:01.000Z',
  ),
} satisfies { readonly [Name in (typeof exportColumns)[number]]: z.ZodType };

const total = component('ReconciliationTotal', 'Number and sum of the rows of one currency and status.', {
  currency,
  status: text('Status of the counted transfers: `completed` or `failed`.', 'completed'),
  count: field(z.int().min(0), 'Number of rows of the currency and status.', 1),
  amount: text('Sum of the amounts of the rows: a decimal string with two digits.', '125.00'),
});

/** Schema of a reconciliation export as JSON. The other formats use the same field names. */
export const reconciliation = component('Reconciliation', 'An export of final transfers.', {
  data: z
    .array(component('ReconciliationRow', 'A transfer that became final.', column))
    .meta({ description: 'Final transfers, ordered by `updatedAt`, then by `id`.' }),
  summary: component(
    'ReconciliationSummary',
    'Summary at the end of an export. An export without a summary is incomplete.',
    {
      rows: field(z.int().min(0), 'Number of rows of the export.', 1),
      totals: z.array(total).meta({ description: 'Totals by currency and status.' }),
      sha256: text(
        'Lower-case hexadecimal digest of every byte before `"summary":`.',
        '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      ),
      final: field(
        z.boolean(),
        'True if every day of the export is closed. In live mode, a later export then has the same bytes. In test mode, old payments are removed.',
        true,
      ),
    },
  ),
});
