import { z } from 'zod';
import { amountField, component, currency, field, kidField, modeField, text, time } from './fields.ts';

/** Schema of a transfer's status. There are only three statuses; `completed` and `failed` are final. */
export const transferStatus = field(
  z.enum(['pending', 'completed', 'failed']),
  'Status of the transfer. Only `failed` means that no money moved. `completed` and `failed` are final.',
  'completed',
);

const failure = component('TransferFailure', 'Reason why a transfer failed.', {
  code: text('Code of the reason, for programs.', 'recipient_closed'),
  message: text('Text of the reason, for people.', 'The account of the recipient is closed.'),
});

/** Schema of a transfer in the form that partners see in responses, lists and events. */
export const transferSchema = component('Transfer', 'A transfer.', {
  id: text('Id of the transfer.', 'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
  status: transferStatus,
  mode: modeField,
  amount: amountField,
  currency,
  recipient: component('TransferRecipient', 'Recipient of a transfer.', { kid: kidField }),
  description: text('The partner’s text for the recipient.', 'Rent of March').nullable(),
  reference: text('The partner’s own name for the transfer.', 'order-1017').nullable(),
  metadata: field(z.record(z.string(), z.string()), 'The partner’s own data on the transfer, unchanged.', {
    till: '4',
  }).nullable(),
  failure: field(
    failure.nullable(),
    'Reason why the transfer failed; `null` unless `status` is `failed`.',
    null,
  ),
  createdAt: time('Time at which the transfer was initiated.'),
  updatedAt: time('Time of the last change of the status.', '2026-01-01T12:00:01.000Z'),
  completedAt: time(
    'Time at which the transfer was completed; `null` unless `status` is `completed`.',
    '2026-01-01T12:00:01.000Z',
  ).nullable(),
});
