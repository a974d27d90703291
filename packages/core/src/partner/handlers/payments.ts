import type { z } from 'zod';
import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import { createTransfer } from '../../payments/create-transfer.ts';
import { findFinalEvent } from '../../payments/final-event.ts';
import { parseAmount } from '../../payments/money.ts';
import { transferView } from '../../payments/transfer-view.ts';
import type { Owner } from '../../ports/partners.ts';
import type { TransferSelection } from '../../ports/transfers.ts';
import { transferSchema } from '../../schemas/transfer.ts';
import { publicId } from '../../scopes/user-record.ts';
import { requireUser, type UserLookup } from '../../users/lookup.ts';
import { eventView } from '../../webhooks/views.ts';
import { inBothDirections, newestFirst, type Page } from '../paging.ts';
import { operation, type PartnerOperation, type PartnerRoute, route } from '../request.ts';
import { bothDirections, listQuery, paymentBody, transferList, transferPath } from '../schemas.ts';

const timeOf = (text: string | undefined): number | null => (text === undefined ? null : Date.parse(text));

/** Converts the query of a list of transfers to the filter that the storage takes. */
const selectionOf = (
  { partner, mode }: Owner,
  query: Pick<z.output<typeof listQuery>, 'status' | 'reference' | 'createdFrom' | 'createdTo'>,
): TransferSelection => ({
  ...{ partner, mode, status: query.status ?? null, reference: query.reference ?? null },
  ...{ from: timeOf(query.createdFrom), to: timeOf(query.createdTo) },
});

function createRoute(core: Core, users: UserLookup): PartnerRoute {
  return route({
    method: 'POST',
    path: '/v1/partner/payments',
    scope: 'payments:write',
    limit: 'payments',
    tag: 'Payments',
    operation: 'createPayment',
    sdk: { call: 'payments.create(body)' },
    summary: 'Initiates a transfer.',
    body: paymentBody,
    success: { status: 201, schema: transferSchema },
    idempotent: true,
    async handle({ body, ...request }) {
      const { recipient } = body;
      const user = requireUser(
        await ('kid' in recipient
          ? users.byKid(request, recipient.kid)
          : users.byPhone(request, recipient.phone)),
      );
      return await createTransfer(core, request, {
        amount: parseAmount(body.amount),
        currency: body.currency,
        recipientKid: publicId(user),
        description: body.description ?? null,
        reference: body.reference ?? null,
        metadata: body.metadata ?? null,
      });
    },
  });
}

/** Routes that initiate and read transfers. */
export function paymentRoutes(core: Core, users: UserLookup): PartnerRoute[] {
  const { transfers } = core.storage;

  return [
    createRoute(core, users),
    route({
      method: 'GET',
      path: '/v1/partner/payments',
      scope: 'payments:read',
      limit: 'other',
      tag: 'Payments',
      operation: 'listPayments',
      portal: 'view',
      sdk: { call: 'payments.list()', isList: true },
      summary: 'Lists transfers, newest first.',
      query: listQuery,
      success: { status: 200, schema: transferList },
      async handle({ query, partner, mode }) {
        const selection = selectionOf({ partner, mode }, query);
        const read = (page: Page) => transfers.list({ ...selection, ...page });
        return { status: 200, body: await newestFirst({ ...query, read, view: transferView }) };
      },
    }),

    route({
      method: 'GET',
      path: '/v1/partner/payments/:id',
      scope: 'payments:read',
      limit: 'other',
      tag: 'Payments',
      operation: 'getPayment',
      portal: 'view',
      sdk: { call: 'payments.retrieve(id)' },
      summary: 'Inspects a transfer.',
      pathSchema: transferPath,
      success: { status: 200, schema: transferSchema },
      async handle({ path, partner, mode }) {
        const transfer = await transfers.find({ partner, mode }, path.id);
        if (transfer === null)
          throw new PartnerError('not_found', { description: 'There is no such transfer.' });
        return { status: 200, body: transferView(transfer) };
      },
    }),
  ];
}

/** Console operations for the pages of payments. */
export function paymentOperations({ storage }: Core): PartnerOperation[] {
  const { transfers } = storage;

  return [
    operation({
      operation: 'listTransfers',
      portal: 'view',
      scope: 'payments:read',
      query: listQuery.extend(bothDirections),
      /** Returns a page of a list that is read in both directions, and the number of transfers in the list. */
      async handle({ query, partner, mode }) {
        const selection = selectionOf({ partner, mode }, query);
        const body = await inBothDirections({
          ...query,
          read: (page) => transfers.list({ ...selection, ...page }),
          count: (most) => transfers.count({ ...selection, most }),
          view: transferView,
        });
        return { status: 200, body };
      },
    }),

    operation({
      operation: 'getPaymentEvent',
      portal: 'view',
      scope: 'payments:read',
      pathSchema: transferPath,
      /** Returns the final event of a transfer; `null` if there is none yet, or if the event was removed. */
      async handle({ path, partner, mode }) {
        const transfer = await transfers.find({ partner, mode }, path.id);
        const event = transfer && (await findFinalEvent(storage, transfer));
        return { status: 200, body: { event: event && eventView(event) } };
      },
    }),
  ];
}
