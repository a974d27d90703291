import type { TestOstiary } from '@ostiary/testing';
import type { Fault } from './schedule.ts';

type Send = () => Promise<Response>;

export type Network = ReturnType<typeof networkOf>;

function reset(): never {
  throw new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });
}

const page = (status: number): Response =>
  new Response('<h1>Bad gateway</h1>', { status, headers: { 'content-type': 'text/html' } });

/**
 * Simulates a network that injects the next fault of a list into each request, until the list is empty.
 * @param meets - called with every fault before it happens
 */
export function networkOf(
  kit: TestOstiary,
  faults: readonly Fault[],
  meets: (fault: Fault, attempt: number) => void,
) {
  const late: { readonly until: string; readonly send: Send }[] = [];
  let attempts = 0;

  /** Sends the delayed requests, all in parallel. The responses are ignored. */
  async function arrive(until: 'next' | 'call' | 'end'): Promise<void> {
    const due = late.filter((one) => one.until === until);
    for (const one of due) late.splice(late.indexOf(one), 1);
    await Promise.allSettled(due.map(({ send }) => send()));
  }

  return {
    arrive,
    async fetch(url: string, init: RequestInit): Promise<Response> {
      const fault: Fault = faults[attempts] ?? { kind: 'none' };
      attempts += 1;
      meets(fault, attempts);
      // Without the signal: a request that was sent still arrives if its sender gives up.
      const { signal: _, ...sent } = init;
      const send: Send = async () => await kit.fetch(url, sent);
      const executed = async (): Promise<Response> => {
        const answer = await send();
        await answer.arrayBuffer();
        return answer;
      };
      void arrive('next');
      switch (fault.kind) {
        case 'none':
          return await send();
        case 'reset before':
          kit.faults.refuse();
          return await send();
        case 'reset after':
          kit.faults.dropAnswerAfterCommit();
          return await send();
        case '429':
          kit.faults.rateLimit({ retryAfterSeconds: fault.seconds });
          return await send();
        case 'page before':
          return page(fault.status);
        case 'page after':
          await executed();
          return page(fault.status);
        case 'slow':
          kit.faults.slow(`${fault.seconds}s`);
          return await kit.fetch(url, init);
        case 'stalled body':
          kit.faults.stallBody();
          return await kit.fetch(url, init);
        case 'empty body': {
          const { status, headers } = await executed();
          return new Response(null, { status, headers });
        }
        case 'redelivered': {
          const [first, second] = await Promise.all([send(), send()]);
          if (fault.answer === 'none') reset();
          return fault.answer === 'first' ? first : second;
        }
        case 'late':
          late.push({ until: fault.until, send });
          reset();
      }
    },
  };
}
