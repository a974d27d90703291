import { LRUCache } from 'lru-cache';
import type { Logger } from '../logger.ts';

/** Why a client could not be authenticated: for the log, never for the caller. The message is the reason. */
export class AuthenticationFailure extends Error {
  override readonly name = 'AuthenticationFailure';
  /** `null` where no client is known by what was sent. */
  readonly clientId: string | null;

  constructor(clientId: string | null, reason: string) {
    super(reason);
    this.clientId = clientId;
  }
}

/** The same of a client is told once in this time, in milliseconds. */
const quietMs = 60_000;

/** Clients and reasons that are remembered. */
const most = 1_000;

/**
 * Tells of clients that could not be authenticated, once a minute per client and reason: a client with a wrong secret
 * tries again and again, and callers without one must not fill the log.
 */
export function authenticationLog(logger: Logger): (error: unknown, now: number) => void {
  const told = new LRUCache<string, number>({ max: most });
  return (error, now) => {
    if (!(error instanceof AuthenticationFailure)) return;
    const { clientId, message: reason } = error;
    const key = JSON.stringify([clientId, reason]);
    if (now - (told.get(key) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    told.set(key, now);
    logger.warn(
      { ...(clientId === null ? {} : { client: clientId }), reason },
      'a client could not be authenticated; the same is told once a minute',
    );
  };
}
