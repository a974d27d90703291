import { type Fragment, html } from '@ostiary/core/console';

export const deliveries = {
  title: 'Deliveries',
  emptyTitle: 'No deliveries',
  emptyEvent: 'No enabled endpoint took this type of event when it was published.',
  emptyEndpoint: 'Nothing was sent to this endpoint yet.',
  again: 'Deliver again here',
  states: {
    pending: 'Waiting',
    delivered: 'Delivered',
    dropped: 'Dropped',
    cancelled: 'Cancelled',
    none: 'No endpoint',
  },
  more: 'Older deliveries',
  all: 'All deliveries',
  andOlder: 'and older ones',
  attempt: (number: Fragment, of: Fragment) => html`Attempt ${number} of ${of}`,
  attemptBeyond: (number: Fragment) => html`Attempt ${number}`,
  succeeded: 'Your endpoint took the event.',
  noStatus: 'No answer',
  whatToDo: 'What to do:',
  answer: (bytes: Fragment) => html`What it answered (${bytes} bytes)`,
  answerCut: 'What it answered (the first 16 KiB)',
  answerTo: (number: number) => `Answer to attempt ${number}`,
  noAnswer: 'It answered with an empty body.',
  sent: 'What was sent',
  ofAttempt: (number: number) => `with attempt ${number}`,
  requestOf: (number: number) => `Request of attempt ${number}`,
  curlOf: (number: number) => `Attempt ${number} as curl`,
  requestUnknown: 'What was sent is not known any more: the endpoint was removed.',
  changed: (time: Fragment) =>
    html`The endpoint was changed ${time}. URL and signature are those of its present settings, and may be others than those that were sent.`,
  neverSent: 'No connection came about, so nothing of it was sent.',
  oldSignature:
    'The signature is of the time of the attempt: 5 minutes later receivers refuse it as too old.',
  onlyTo: (endpoint: Fragment) => html`Only deliveries to ${endpoint}.`,
  next: (time: Fragment) => html`Next attempt ${time}`,
  underWay: 'The first attempt is about to begin.',
  dropped:
    'All attempts failed, so it is not tried again by itself. Deliver it again once the cause is gone.',
  cancelled: 'Cancelled because the endpoint was disabled or removed.',
};
