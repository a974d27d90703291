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
    '16 to 256 characters, known to your application too. It signs every event and is never shown again.',
  types: 'Types of events',
  refused: 'The endpoint was not registered.',
  badTypes: 'Choose at least one type.',
};
