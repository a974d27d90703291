import type { IncomingHttpHeaders } from 'node:http';

const minSeconds = 5 * 60;
const maxSeconds = 24 * 3600;

/** Reads a directive of `Cache-Control` that has a number of seconds; `null` if it is missing or malformed. */
function secondsOf(cacheControl: string, directive: string): number | null {
  const [, digits] =
    new RegExp(`(?:^|[,\\s])${directive}="?(\\d{1,10})"?(?:$|[,\\s])`, 'i').exec(cacheControl) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** Time between `Date` and `Expires` in seconds (RFC 9111, section 4.2.1); `null` unless both are dates. */
function secondsUntilExpiry({ date, expires }: IncomingHttpHeaders): number | null {
  const seconds = (Date.parse(expires ?? '') - Date.parse(date ?? '')) / 1000;
  return Number.isNaN(seconds) ? null : seconds;
}

/**
 * Returns for how long a document is kept, in milliseconds: as long as the headers of its response say for a shared cache (RFC 9111,
 * section 4.2.1), but five minutes at least and a day at most. Five minutes if they say nothing.
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
