import { type Front, openFront } from './front.ts';
import type { ReferenceProcess } from './reference-process.ts';
import { isReady } from './server-process.ts';

/** How often `/readyz` is asked: less than half of the second for which a process that ends goes on answering. */
const probeMs = 250;

/**
 * A load balancer as it is usually set up: it takes turns among the processes whose `/readyz` says so, and asks another one when
 * nobody takes the connection. It never sends a request again that a process has taken.
 */
export async function openBalancer(port: number, processes: readonly ReferenceProcess[]): Promise<Front> {
  const ready = new Set(processes);
  const probe = setInterval(() => {
    for (const one of processes) {
      void isReady(one.origin).then((is) => (is ? ready.add(one) : ready.delete(one)));
    }
  }, probeMs);
  const front = await openFront(port, ready);
  return {
    answeredBy: front.answeredBy,
    close() {
      clearInterval(probe);
      return front.close();
    },
  };
}
