import { z } from 'zod';

const iso = z.iso.datetime();

/** A transfer as partners see it: in answers, in lists and in events. */
export const transferSchema = z
  .object({
    id: z.string(),
    status: z.enum(['pending', 'completed', 'failed']),
    mode: z.enum(['live', 'test']),
    amount: z.string(),
    currency: z.enum(['HTG', 'USD']),
    recipient: z.object({ kid: z.string() }),
    description: z.string().nullable(),
    reference: z.string().nullable(),
    metadata: z.record(z.string(), z.string()).nullable(),
    failure: z.object({ code: z.string(), message: z.string() }).nullable(),
    createdAt: iso,
    updatedAt: iso,
    completedAt: iso.nullable(),
  })
  .meta({ id: 'Transfer' });
