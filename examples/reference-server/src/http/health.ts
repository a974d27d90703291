import type { Context } from 'koa';
import { inTime } from './in-time.ts';

/** An answer comes before the probe of anybody gives up. */
const patienceMs = 1_900;

/** What probes of a load balancer or an orchestrator ask. */
export type HealthRoutes = ReturnType<typeof createHealthRoutes>;

/** `check` asks every database; `isClosing` says that no new request is wanted. Answers are one word, and no detail. */
export function createHealthRoutes(check: () => Promise<unknown>, isClosing: () => boolean) {
  return {
    /** The process answers. Never asks the database: restarting a process repairs no database. */
    live(ctx: Context): void {
      ctx.body = { status: 'ok' };
    },
    /** The process should get requests: its databases answer, and it is not about to end. */
    async ready(ctx: Context): Promise<void> {
      const holds = async () => (await inTime(check(), patienceMs)) !== null;
      const status = isClosing() ? 'closing' : (await holds()) ? 'ok' : 'unavailable';
      ctx.status = status === 'ok' ? 200 : 503;
      if (status !== 'ok') ctx.set('Retry-After', '2');
      ctx.body = { status };
    },
  };
}
