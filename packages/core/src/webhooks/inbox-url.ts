import { TargetError } from './targets.ts';

/**
 * Responses of inboxes, by the URL of their endpoint. `listener` stands for the response of a partner's
 * program.
 */
const inboxes = {
  'inbox:200': 'success',
  'inbox:500': 'failure',
  'inbox:timeout': 'silence',
  'inbox:listen': 'listener',
} as const;

/** Kind of response that an inbox gives to requests with a valid signature. */
export type InboxBehaviour = (typeof inboxes)[keyof typeof inboxes];

/** URL of endpoints whose requests a partner's program takes. */
export const listenUrl = 'inbox:listen';

/** URLs of endpoints that are an inbox of this service, for messages and documentation. */
const inboxUrls = Object.keys(inboxes);

/** Checks whether an endpoint is an inbox of this service, from the scheme of its URL. */
export const isInboxUrl = (url: string): boolean => url.startsWith('inbox:');

/** Returns how the inbox with a URL responds; `null` if no inbox has this URL. */
export const inboxBehaviour = (url: string): InboxBehaviour | null =>
  Object.hasOwn(inboxes, url) ? inboxes[url as keyof typeof inboxes] : null;

/**
 * Checks the URL of an inbox.
 * @throws TargetError for an unknown inbox, and in live mode
 */
export function checkInboxUrl(url: string, mode: 'live' | 'test'): void {
  if (mode === 'live') throw new TargetError('Only test endpoints can be an inbox.');
  if (inboxBehaviour(url) === null)
    throw new TargetError(`The URL of an inbox must be one of ${inboxUrls.join(', ')}.`);
}
