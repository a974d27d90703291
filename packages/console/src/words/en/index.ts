import { type Fragment, html } from '@ostiary/core/console';
import { deliveries } from './deliveries.ts';
import { endpoints, recovery, secrets } from './endpoints.ts';
import { events, trigger } from './events.ts';
import { failures } from './failures.ts';
import { firstRun } from './first-run.ts';
import { operators } from './operators.ts';
import { requests } from './requests.ts';
import { snippets } from './snippets.ts';
import { tools } from './tools.ts';

/** The words of the sandbox console in English; other languages have the same. */
export const english = {
  title: 'Sandbox console',
  testMode: 'Test mode',
  signOut: 'Sign out',
  back: 'Events and endpoints',
  cancel: 'Cancel',
  show: 'Show',
  filter: 'Filter',
  nothingFits: 'Nothing fits this filter.',
  live: 'Updating live',
  lost: 'No connection, trying again',
  reload: 'Reload the page to see what is new',
  notices: {
    signed_out: 'You are signed out.',
    ended: 'You were signed out: the session is over, or the key no longer opens the console.',
    sent: 'The event is on its way.',
    redelivered: 'The event is on its way again.',
    no_match: 'Nothing was sent: no enabled endpoint takes this type of event.',
    disabled: 'Nothing was sent: the endpoint is disabled. Enable it first.',
    gone: 'Nothing was changed: the endpoint no longer exists.',
    endpoint_added: 'The endpoint is registered.',
    endpoint_enabled: 'The endpoint is enabled.',
    endpoint_disabled: 'The endpoint is disabled, and what was waiting for it is cancelled.',
    endpoint_removed: 'The endpoint is removed, and what was waiting for it is cancelled.',
    endpoint_saved: 'The endpoint is saved.',
    secret_changed: 'The new secret signs from the next attempt on.',
    kyc_changed: 'The identity check is changed, and your test endpoints are told.',
    kyc_same: 'Nothing was changed: the identity check stood like this already.',
    kyc_reset: 'Every sandbox user is as in the beginning again.',
    paid: 'The payment is initiated: this is what becomes of it.',
  },
  signIn: {
    intro: (prefix: Fragment) =>
      html`Sign in with a test API key: it begins with ${prefix} and has the scope <code>webhooks</code>.`,
    key: 'Test API key',
    submit: 'Sign in',
    refused: (prefix: Fragment) =>
      html`This key does not open the console. Only test keys do: they begin with ${prefix}, have the scope <code>webhooks</code>, are in force, need no request signature, and come from an address that they allow.`,
    tooMany: 'There were too many attempts from your address. Please wait a minute.',
    wrongKey: 'This key was not accepted.',
    promise: 'The key is not kept in your browser. You are signed out after 8 hours.',
  },
  endpoints,
  trigger,
  events,
  deliveries,
  failures,
  requests,
  secrets,
  recovery,
  tools,
  firstRun,
  snippets,
  operators,
};

/** Every word of the sandbox console. */
export type Words = typeof english;
