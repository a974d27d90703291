import { type Fragment, html } from '@ostiary/core/console';

export const endpoints = {
  title: 'Endpoints',
  add: 'Add an endpoint',
  emptyTitle: 'No endpoints yet',
  empty: 'Register the address at which your application receives events.',
  enabled: 'Enabled',
  disabled: 'Disabled',
  allTypes: 'All types of events',
  enable: 'Enable',
  disable: 'Disable',
  disableHint: 'Disabling an endpoint cancels what is waiting for it.',
  remove: 'Remove this endpoint',
  removeHint: 'It cannot be brought back, and what is waiting for it is cancelled.',
  removeNow: 'Remove for good',
  removed: 'Removed endpoint',
  since: (time: Fragment) => html`Registered ${time}`,
  addTitle: 'Add an endpoint',
  url: 'URL',
  urlHint: 'A public https address. Each event is sent to it as a POST.',
  secret: 'Webhook secret',
  secretHint:
    'It signs every event; your application has to know it. Leave it empty to get a generated one, or type one of 16 to 256 characters.',
  types: 'Types of events',
  refused: 'The endpoint was not registered.',
  badTypes: 'Choose at least one type.',
  secretAgain:
    'The page does not keep it: type it again, 16 to 256 characters. Left empty, you get a generated one.',
  twin: (id: Fragment) => html`Another endpoint of yours has this address: ${id}. Both would get each event.`,
  anyway: 'Register it anyway',
  saveAnyway: 'Save it anyway',
  edit: 'Edit address and types',
  rotate: 'Replace the secret',
  editTitle: 'Edit an endpoint',
  editUrlHint:
    'A public https address. What is waiting for the endpoint goes there from the next attempt on.',
  editRefused: 'The endpoint was not changed.',
  save: 'Save',
  goneTitle: 'There is no such endpoint',
};

export const secrets = {
  title: 'Replace the secret',
  underWay:
    'An endpoint has one secret at a time. A new one signs every attempt from the next one on, also retries of events that are under way.',
  overlap:
    'Let your application accept both secrets first, so that no event is refused. A refused one is tried again like any failed attempt.',
  generateTitle: 'A generated secret',
  generateHint: 'It is shown to you first. The old one stays in force until you say so.',
  generate: 'Generate a secret',
  generatedTitle: 'Your new secret',
  generatedHint: 'It is not in force yet. Give it to your application, then let it sign.',
  onlyNow: 'It is shown now and never again.',
  use: 'Sign with it from now on',
  discard: 'Keep the old one',
  ownTitle: 'A secret of your own',
  own: 'New secret',
  ownHint: '16 to 256 random characters. It is never shown.',
  refused: 'The secret was not replaced.',
  toEndpoint: 'To the endpoint',
  newTitle: 'The secret of your endpoint',
  newHint: 'Give this secret to your application: every event is signed with it.',
};

export const recovery = {
  title: 'Recover what was dropped',
  hint: 'Delivers again what was given up after its last attempt, since a time.',
  disabled: 'Enable the endpoint first.',
  since: 'Since (UTC)',
  sinceHint: 'Date and time in UTC, as on this page.',
  recover: 'Recover',
  refused: 'Nothing was recovered.',
  badSince: 'Give a date and a time, such as 2026-01-31 14:05.',
  none: 'Nothing was dropped since then.',
  done: (count: string) => `Deliveries queued again: ${count}.`,
  more: (count: string) => `Deliveries queued again: ${count}. There may be more: recover once again.`,
};
