import type { IncomingMessage } from 'node:http';

/**
 * Whether a browser or a router of a page asks ahead of its user, who may never go there: prefetch, prerendering and speculation rules
 * (`Sec-Purpose`, in older browsers `Purpose` and `X-Moz`), and the router of Next.js.
 */
export function isPrefetch({ headers }: IncomingMessage): boolean {
  const names = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
  if (names.some((name) => /\bpre(?:fetch|render|view)\b/i.test(String(headers[name])))) return true;
  return headers['next-router-prefetch'] !== undefined;
}

/**
 * Whether the user's tab itself goes to the address (Fetch Metadata): no image, frame or script of a page. Browsers too old to say so
 * are believed. `Sec-Fetch-Mode` says less: HTTP clients of servers send it too.
 */
export function isNavigation({ headers }: IncomingMessage): boolean {
  return (headers['sec-fetch-dest'] ?? 'document') === 'document';
}

/**
 * Whether a script of a page sent the request (Fetch Metadata). A service worker that passes a navigation on has the same
 * `Sec-Fetch-Dest: empty`, but either the mode `navigate`, which no script can choose, or, if it added options such as a signal,
 * `Upgrade-Insecure-Requests`, which browsers send with navigations only. HTTP clients of servers send no `Sec-Fetch-Dest`.
 */
export function isScript({ headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-dest'] !== 'empty') return false;
  return headers['sec-fetch-mode'] !== 'navigate' && headers['upgrade-insecure-requests'] === undefined;
}
