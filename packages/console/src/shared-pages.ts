import type { ConsolePage } from '@ostiary/core/console';
import { answer } from './answer.ts';
import { changeEndpoint, endpoint } from './endpoint.ts';
import { addEndpoint, editEndpoint, newEndpoint, saveEndpoint } from './endpoint-form.ts';
import { event, redeliver } from './event.ts';
import { orGone } from './gone.ts';
import type { Guard } from './guard.ts';
import { type PageName, pathOf } from './paths.ts';
import { payment, paymentFile, payments, reconciliation, withScope } from './payments/pages.ts';
import { request, requests } from './requests.ts';
import { search } from './search.ts';
import { changeSecret, secret } from './secret.ts';
import type { Visit } from './visit.ts';

/** Returns the routes of the pages that the partners' sandbox console and live portal have in common. */
export function sharedPages(
  mode: Visit['mode'],
  { guarded, managed, action, signOut }: Guard,
): ConsolePage[] {
  const at = (name: PageName): string => pathOf(mode, name);
  return [
    {
      path: at('signOut'),
      summary: 'Signs a partner out.',
      POST: signOut,
    },
    {
      path: at('event'),
      summary: 'An event, and its deliveries with every attempt.',
      GET: guarded(event),
    },
    {
      path: at('redeliver'),
      summary: 'Delivers an event again.',
      POST: action(redeliver),
    },
    {
      path: at('answer'),
      summary: 'The response of an endpoint to a delivery attempt.',
      GET: guarded(answer),
    },
    {
      path: at('endpoints'),
      summary: 'Registers a webhook endpoint.',
      GET: managed(newEndpoint),
      POST: action(addEndpoint),
    },
    {
      path: at('endpoint'),
      summary: 'A webhook endpoint, and the deliveries to it; enables, disables, recovers or removes it.',
      GET: guarded(endpoint),
      POST: action(orGone(changeEndpoint)),
    },
    {
      path: at('editEndpoint'),
      summary: 'Changes the URL and the event types of a webhook endpoint.',
      GET: managed(editEndpoint),
      POST: action(orGone(saveEndpoint)),
    },
    {
      path: at('secret'),
      summary:
        'Changes the secret of a webhook endpoint: to a generated one, or to one of the partner’s own.',
      GET: managed(secret),
      POST: action(orGone(changeSecret)),
    },
    {
      path: at('search'),
      summary: 'Finds an event, a delivery, an endpoint, a payment or a request of the partner.',
      GET: guarded(search),
    },
    {
      path: at('requests'),
      summary: 'The last requests of the partner’s keys.',
      GET: guarded(requests),
    },
    {
      path: at('request'),
      summary:
        'A request of the partner: its time and result; in the sandbox also the bodies of request and response.',
      GET: guarded(request),
    },
    {
      path: at('payments'),
      summary: 'The payments of the partner, filtered.',
      GET: guarded(withScope('payments:read', payments)),
    },
    {
      path: at('payment'),
      summary: 'A payment: its state, its event, and the deliveries of the event.',
      GET: guarded(withScope('payments:read', payment)),
    },
    {
      path: at('reconciliation'),
      summary: 'The final transfers of a day: sums, checksum, and files.',
      GET: guarded(withScope('reconciliation:read', reconciliation)),
    },
    {
      path: at('paymentFile'),
      summary: 'A file of final payments, for programs or for spreadsheets.',
      GET: guarded(withScope('reconciliation:read', paymentFile)),
    },
  ];
}
