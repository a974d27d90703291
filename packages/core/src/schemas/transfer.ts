import { z } from 'zod';
import { amountField, component, currency, field, kidField, modeField, text, time } from './fields.ts';

/** Schema of a transfer's status. There are only three statuses; `completed` and `failed` are final. */
export const transferStatus = field(
  z.enum(['pending', 'completed', 'failed']),
  'Only `failed` means that no money moved. `completed` and `failed` are final.',
  'completed',
);

const failure = component('TransferFailure', 'Why a transfer failed.', {
  code: text('For programs.', 'recipient_closed'),
  message: text('For people.', 'The account of the recipient is closed.'),
});

/** Schema of a transfer in the form that partners see in responses, lists and events. */
export const transferSchema = component('Transfer', 'A transfer.', {
  id: text('Id of the transfer.', 'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
  status: transferStatus,
  mode: modeField,
  amount: amountField,
  currency,
  recipient: component('TransferRecipient', 'Who is paid.', { kid: kidField }),
  description: text('What the partner wrote for the recipient.', 'Rent of March').nullable(),
  reference: text('The partner’s own name for the transfer.', 'order-1017').nullable(),
  metadata: field(z.record(z.string(), z.string()), 'Data of the partner’s own, as it came.', {
    till: '4',
  }).nullable(),
  failure: field(failure.nullable(), 'Why it failed; `null` unless it did.', null),
  createdAt: time('When it was initiated.'),
  updatedAt: time('When its status changed last.', '2026-01-01T12:00:01.000Z'),
  completedAt: time('When it was completed; `null` unless it was.', '2026-01-01T12:00:01.000Z').nullable(),
});
