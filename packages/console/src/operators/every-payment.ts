import type { ConsoleAnswer } from '@ostiary/core/console';
import { html } from '@ostiary/core/pages';
import { timeOrders } from '../list-order.ts';
import { filterOf, paymentRow, queryOf, statuses } from '../payments/list.ts';
import { choiceOf, everywherePage } from './everywhere.ts';
import { sortedList } from './sorted-list.ts';
import { type OperatorContext, parameter } from './visit.ts';

/** Shows the payments of all partners. */
export function everyPayment(visit: OperatorContext): Promise<ConsoleAnswer> {
  const { admin, query, urls, voice } = visit;
  const { payments: text, tools } = voice.words;
  const { partner, ofPartner } = choiceOf(visit);
  const status = statuses.find((one) => one === parameter(visit, 'state')) ?? null;
  const filter = filterOf(query);
  const { from, to } = queryOf(filter);
  const search = {
    ...ofPartner,
    ...(status !== null && { status }),
    ...(filter.from !== null && { from: filter.from }),
    ...(filter.to !== null && { to: filter.to }),
  };
  const states = [
    ['', text.every] as const,
    ...statuses.map((name) => [name, tools.payment.states[name]] as const),
  ];
  return everywherePage(visit, 'allPayments', {
    title: text.title,
    kept: { partner, state: status, from, to },
    fields: (form) => html`${form.select('state', states, status ?? '')}
${form.day('from', from)}
${form.day('to', to)}`,
    list: async (urlOf) =>
      sortedList(visit, {
        read: ({ by: _, ...request }) => admin.transfers.sorted({ ...request, ...search }),
        count: await admin.transfers.countSorted(search),
        rowOf: (transfer) =>
          paymentRow(transfer, {
            href: urls.payment(transfer.partner, transfer.id, { mode: transfer.mode }),
            ...{ partner: transfer.partner, voice },
          }),
        ...{ urlOf, empty: text.none, orders: timeOrders },
      }),
  });
}
