import { z } from 'zod';
import { amountField, currency, kidField, modeField, text, time } from './fields.ts';

/** What a status says. The three are all there are: `completed` and `failed` are final. */
export const transferStatus = z.enum(['pending', 'completed', 'failed']).meta({
  description: 'Only `failed` means that no money moved. `completed` and `failed` are final.',
  examples: ['completed'],
});

const failure = z
  .object({
    code: text('For programs.', 'recipient_closed'),
    message: text('For people.', 'The account of the recipient is closed.'),
  })
  .meta({ id: 'TransferFailure', description: 'Why a transfer failed.' });

/** A transfer as partners see it: in answers, in lists and in events. */
export const transferSchema = z
  .object({
    id: text('Id of the transfer.', 'tr_5b1f0c9e7d3a4826b0e4c1d2f3a59687'),
    status: transferStatus,
    mode: modeField,
    amount: amountField,
    currency,
    recipient: z.object({ kid: kidField }).meta({ id: 'TransferRecipient', description: 'Who is paid.' }),
    description: text('What the partner wrote for the recipient.', 'Rent of March').nullable(),
    reference: text('The partner’s own name for the transfer.', 'order-1017').nullable(),
    metadata: z
      .record(z.string(), z.string())
      .meta({ description: 'Data of the partner’s own, as it came.', examples: [{ till: '4' }] })
      .nullable(),
    failure: failure
      .nullable()
      .meta({ description: 'Why it failed; `null` unless it did.', examples: [null] }),
    createdAt: time('When it was initiated.'),
    updatedAt: time('When its status changed last.', '2026-01-01T12:00:01.000Z'),
    completedAt: time('When it was completed; `null` unless it was.', '2026-01-01T12:00:01.000Z').nullable(),
  })
  .meta({ id: 'Transfer', description: 'A transfer.' });
