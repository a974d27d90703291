import { type Fragment, html } from '@ostiary/core/console';

export const trigger = {
  title: 'Trigger a test event',
  intro: 'It looks like a real one and goes to your test endpoints. No money moves.',
  type: 'Type',
  send: 'Send',
  edit: 'Edit the data first',
  editTitle: 'Edit a test event',
  data: 'Data',
  dataHint: 'A JSON object that fits the type. It is the member “data” of the body.',
  refused: 'The event was not sent.',
};

export const events = {
  title: 'Events',
  emptyTitle: 'No events yet',
  empty: 'Trigger one, or make a payment with a test key.',
  newest: 'Newest events',
  older: 'Older events',
  all: 'All types of events',
  body: 'Body',
  bodyHint: 'Shown with line breaks. It is signed and sent without them, as the same bytes on every attempt.',
  state: 'Deliveries',
  endpoint: 'Endpoint',
  allEndpoints: 'All endpoints',
  until: 'Up to (UTC)',
  untilWrong: (example: string) => `Write a time as ${example}. The list does not use this one.`,
  clear: 'Clear filters',
  id: 'Event id',
  find: 'Open',
  notFound: 'There is no event with this id.',
  nothingYet: 'Nothing fits this filter among the events that were searched: 5,000 at a time.',
  searchOlder: 'Search older events',
  json: 'JSON',
  sequence: (number: Fragment) => html`Event ${number}`,
  redeliverAll: 'Deliver again',
  redeliverHint: 'To every enabled endpoint that takes this type now, with the same id and body.',
};
