import { z } from 'zod';
import type { exportColumns } from '../payments/export-formats.ts';
import { amountField, component, currency, field, text, time } from '../schemas/fields.ts';

const column = {
  id: text('Id of the transfer.', 'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
  reference: text('The partner’s own name for it.', 'order-1017').nullable(),
  status: text('`completed` or `failed`.', 'completed'),
  amount: amountField,
  currency,
  recipientKid: text('Public id of who was paid.', 'KID-TEST-APPROVED'),
  description: text('What the partner wrote for the recipient.', 'Rent of March').nullable(),
  failureCode: text('Why it failed.', 'recipient_closed')
    .nullable()
    .meta({ examples: [null] }),
  createdAt: time('When it was initiated.'),
  completedAt: time('When it was completed.', '2026-01-01T12:00:01.000Z').nullable(),
  updatedAt: time(
    'When it became final: this decides on which day it is listed.',
    '2026-01-01T12:00:01.000Z',
  ),
} satisfies { readonly [Name in (typeof exportColumns)[number]]: z.ZodType };

const total = component('ReconciliationTotal', 'Rows of one currency and status.', {
  currency,
  status: text('`completed` or `failed`.', 'completed'),
  count: field(z.int().min(0), 'How many rows.', 1),
  amount: text('Their sum.', '125.00'),
});

/** Schema of a reconciliation export as JSON. The other formats use the same field names. */
export const reconciliation = component('Reconciliation', 'An export.', {
  data: z
    .array(component('ReconciliationRow', 'A transfer that became final.', column))
    .meta({ description: 'By `updatedAt`, then `id`.' }),
  summary: component('ReconciliationSummary', 'Comes last: an export without it is incomplete.', {
    rows: field(z.int().min(0), 'How many rows.', 1),
    totals: z.array(total).meta({ description: 'By currency and status.' }),
    sha256: text(
      'Lower-case hexadecimal digest of every byte before `"summary":`.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
    final: field(z.boolean(), 'Whether every day is closed: the same bytes next time.', true),
  }),
});
