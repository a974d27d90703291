import type { IncomingMessage } from 'node:http';

/**
 * Checks whether a browser, or the router of a page, requests a URL before the user opens it, which may never
 * happen: prefetch, prerendering and speculation rules (`Sec-Purpose`, in older browsers `Purpose`,
 * `X-Purpose` and `X-Moz`), and the router of Next.js.
 */
export function isPrefetch({ headers }: IncomingMessage): boolean {
  const names = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];
  if (names.some((name) => /\bpre(?:fetch|render|view)\b/i.test(String(headers[name])))) return true;
  return headers['next-router-prefetch'] !== undefined;
}

/**
 * Checks whether the user's tab itself navigates to the URL (Fetch Metadata), rather than an image, frame or
 * script of a page requesting it. Browsers too old to send the header count as navigating. `Sec-Fetch-Mode`
 * proves less, because HTTP clients of servers send it too.
 */
export function isNavigation({ headers }: IncomingMessage): boolean {
  return (headers['sec-fetch-dest'] ?? 'document') === 'document';
}

/**
 * Checks whether a script of a page sent the request (Fetch Metadata). A service worker that forwards a
 * navigation has the same `Sec-Fetch-Dest: empty`, but also the mode `navigate`, which no script can choose.
 * If the service worker added options such as a signal, the request has `Upgrade-Insecure-Requests` instead,
 * which browsers send with navigations only. HTTP clients of servers send no `Sec-Fetch-Dest`.
 */
export function isScript({ headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-dest'] !== 'empty') return false;
  return headers['sec-fetch-mode'] !== 'navigate' && headers['upgrade-insecure-requests'] === undefined;
}
