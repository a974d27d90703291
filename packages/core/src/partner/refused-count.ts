import { PartnerError } from '../errors.ts';
import { secondsUntil } from '../limits/fixed-windows.ts';
import type { RateLimitState } from '../ports/rate-limits.ts';

/** Refuses a request whose limit is reached. @throws PartnerError `rate_limit_exceeded` with `Retry-After` */
export function requireAllowed({ allowed, endsAt }: RateLimitState, now: number): void {
  if (allowed) return;
  throw new PartnerError('rate_limit_exceeded', { headers: { 'Retry-After': secondsUntil(endsAt, now) } });
}
