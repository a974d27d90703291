import type { Stage } from '../processes/stage.ts';
import { until } from '../proof.ts';
import type { Load } from './load.ts';

/**
 * Measures the recovery from a fault, in milliseconds: until the first and the last web process accept a
 * payment, and until the payments are executed and their events have arrived. Infinity for what does not
 * happen in time.
 */
export async function recovery({ cluster, receiver }: Pick<Stage, 'cluster' | 'receiver'>, load: Load) {
  const started = performance.now();
  const passed = (holds: boolean) => (holds ? performance.now() - started : Number.POSITIVE_INFINITY);
  const keys = new Set<string>();
  const answered = await Promise.all(
    cluster.webs.map(async ({ origin }) => {
      const hasAnswered = await until(
        async () => {
          const key = await load.payOnce(origin);
          if (key !== null) keys.add(key);
          return key !== null;
        },
        { everyMs: 20 },
      );
      return passed(hasAnswered);
    }),
  );
  const webMs = Math.max(...answered);
  const hasArrived = await until(() => [...keys].every((key) => receiver.seen.has(key)), { everyMs: 20 });
  return {
    firstWebMs: Math.min(...answered),
    webMs,
    deliveredMs: passed(hasArrived && Number.isFinite(webMs)),
  };
}
