import type { Logger } from '@ostiary/core';
import type { Context } from 'koa';
import { inTime } from './in-time.ts';

/** Time limit of `/readyz`, in milliseconds: less than the time-out of usual probes. */
const patienceMs = 1_900;

/** Routes for probes of a load balancer or an orchestrator. */
export type HealthRoutes = ReturnType<typeof createHealthRoutes>;

/**
 * Makes the routes `/healthz` and `/readyz`. `check` queries every database; `isClosing` returns true while
 * the server stops, unless another process has replaced it. Responses are JSON with one word. The reason of a
 * failed check is logged when it changes.
 */
export function createHealthRoutes(
  check: () => Promise<unknown>,
  isClosing: () => boolean,
  logger: Pick<Logger, 'error' | 'info'>,
) {
  let loggedReason: string | null = null;

  async function checkAndLog(): Promise<void> {
    try {
      await check();
      if (loggedReason !== null) logger.info({}, 'the database can be used again');
      loggedReason = null;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== loggedReason) logger.error({ err: error }, 'not ready: the database cannot be used');
      loggedReason = reason;
      throw error;
    }
  }

  return {
    /**
     * Responds with 200 if the process works. Does not query the database, because restarting a process
     * repairs no database.
     */
    live(ctx: Context): void {
      ctx.body = { status: 'ok' };
    },
    /** Responds whether the process should get requests: its databases respond, and it is not stopping. */
    async ready(ctx: Context): Promise<void> {
      const holds = async () => (await inTime(checkAndLog(), patienceMs)) !== null;
      const status = isClosing() ? 'closing' : (await holds()) ? 'ok' : 'unavailable';
      ctx.status = status === 'ok' ? 200 : 503;
      if (status !== 'ok') ctx.set('Retry-After', '2');
      ctx.body = { status };
    },
  };
}
