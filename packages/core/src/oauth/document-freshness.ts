import type { IncomingHttpHeaders } from 'node:http';

const minSeconds = 5 * 60;
const maxSeconds = 24 * 3600;

/**
 * Returns the seconds of a directive in `Cache-Control`, such as `max-age`; `null` if it is missing or
 * malformed.
 */
function secondsOf(cacheControl: string, directive: string): number | null {
  const [, digits] =
    new RegExp(`(?:^|[,\\s])${directive}="?(\\d{1,10})"?(?:$|[,\\s])`, 'i').exec(cacheControl) ?? [];
  return digits === undefined ? null : Number(digits);
}

/**
 * Returns the seconds from the header `Date` to the header `Expires` (RFC 9111, section 4.2.1); `null` unless
 * both are dates.
 */
function secondsUntilExpiry({ date, expires }: IncomingHttpHeaders): number | null {
  const seconds = (Date.parse(expires ?? '') - Date.parse(date ?? '')) / 1000;
  return Number.isNaN(seconds) ? null : seconds;
}

/**
 * Returns the time for which a fetched metadata document is cached, in milliseconds: as long as its response
 * headers allow a shared cache (RFC 9111, section 4.2.1), but at least five minutes and at most a day. Five
 * minutes if the headers say nothing.
 */
export function freshForMs(headers: IncomingHttpHeaders): number {
  const cacheControl = headers['cache-control'] ?? '';
  const isUncacheable = /(?:^|[,\s])(?:no-store|no-cache|private)(?:$|[,;=\s])/i.test(cacheControl);
  const lifetime =
    secondsOf(cacheControl, 's-maxage') ??
    secondsOf(cacheControl, 'max-age') ??
    secondsUntilExpiry(headers) ??
    0;
  const age = /^\d{1,10}$/.test(headers.age ?? '') ? Number(headers.age) : 0;
  const seconds = isUncacheable ? 0 : lifetime - age;
  return 1000 * Math.min(Math.max(seconds, minSeconds), maxSeconds);
}
