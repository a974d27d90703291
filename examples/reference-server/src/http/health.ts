import type { Context } from 'koa';

/** What probes of a load balancer or an orchestrator ask. */
export interface HealthRoutes {
  /** The process answers. Never asks the database: restarting a process repairs no database. */
  live(ctx: Context): void;
  /** The process should get requests: its databases answer, and it is not about to end. */
  ready(ctx: Context): Promise<void>;
}

/** An answer comes before the probe of anybody gives up. */
const patienceMs = 1_900;

/** Whether a promise is kept in time. */
async function holds(check: () => Promise<unknown>): Promise<boolean> {
  const tooLate = Promise.withResolvers<false>();
  const timer = setTimeout(() => tooLate.resolve(false), patienceMs);
  try {
    return await Promise.race([
      check().then(
        () => true,
        () => false,
      ),
      tooLate.promise,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** `check` asks every database; `isClosing` says that no new request is wanted. Answers are one word, and no detail. */
export function createHealthRoutes(check: () => Promise<unknown>, isClosing: () => boolean): HealthRoutes {
  return {
    live(ctx) {
      ctx.body = { status: 'ok' };
    },
    async ready(ctx) {
      const status = isClosing() ? 'closing' : (await holds(check)) ? 'ok' : 'unavailable';
      ctx.status = status === 'ok' ? 200 : 503;
      if (status !== 'ok') ctx.set('Retry-After', '2');
      ctx.body = { status };
    },
  };
}
