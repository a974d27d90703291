import { silentLogger } from '@ostiary/core';
import type { NewEvent } from '@ostiary/core/storage';
import { memoryStorage } from '@ostiary/testing/memory';
import { systemRandom } from '../../../packages/core/src/secrets/random.ts';
import type { AttemptAnswer, WebhookClient } from '../../../packages/core/src/webhooks/client.ts';
import { createDispatcher } from '../../../packages/core/src/webhooks/dispatcher.ts';
import { createAgenda } from './agenda.ts';
import { answerOf, arrivalsOf, type Plan } from './plan.ts';
import { createTally, type Report } from './tally.ts';

const owner = { partner: 'acme', mode: 'live' } as const;

/** Turns of the event loop in which everything happens that waits for no timer: results are gathered for 16, then written. */
const turns = 30;

/** Lets a plan happen to the real dispatcher and SQLite in memory. Endpoints, and the time, are the plan's. */
export async function run(plan: Plan): Promise<Report> {
  const { endpoints, workers, concurrency, delaysMs, untilMs } = plan;
  const [agenda, tally] = [createAgenda(), createTally(plan)];
  const storage = memoryStorage();
  await storage.open();
  const clock = { now: agenda.now };

  const client: WebhookClient = {
    post({ body }) {
      const { number, publishedAt } = JSON.parse(Buffer.from(body).toString());
      tally.begun(number, agenda.now());
      const { ok, answered, tookMs } = answerOf(plan, number, agenda.now());
      const httpStatus = ok ? 204 : 503;
      const answer: AttemptAnswer = answered
        ? { ok, httpStatus, error: ok ? null : 'status', response: '', durationMs: tookMs }
        : { ok, httpStatus: null, error: 'timeout', response: null, durationMs: tookMs };
      return new Promise((resolve) => {
        agenda.after(tookMs, () => {
          tally.ended(number, agenda.now());
          if (ok) tally.delivered(number, publishedAt, agenda.now());
          resolve(answer);
        });
      });
    },
    abort() {},
    async close() {},
  };

  for (const [number] of endpoints.entries()) {
    const settings = {
      url: `https://${number}.example/`,
      events: [`to.${number}`],
      enabled: true,
      sealedSecret: 'sealed',
    };
    const endpoint = { ...owner, ...settings, id: `we_${number}`, createdAt: 0, updatedAt: 0, version: 1 };
    await storage.webhooks.create({ endpoint, idempotency: null, max: 1_000, now: 0 });
    const arrivals = arrivalsOf(plan, number);
    let published = 0;
    const next = (at: number): void =>
      void agenda.after(at - agenda.now(), () => {
        published += 1;
        tally.published(number, at);
        const [id, type] = [`evt_${number}_${published}`, `to.${number}`];
        const body = JSON.stringify({ id, type, number, publishedAt: at });
        const event: NewEvent = {
          ...owner,
          id,
          type,
          body,
          createdAt: at,
          deliveryId: `dl_${number}_${published}`,
        };
        void storage.events.publish([event], { idempotency: null, now: at });
        next(arrivals.next().value);
      });
    next(arrivals.next().value);
  }

  const warn = (_: object, line: string) => {
    if (line !== 'a webhook delivery was dropped after its last attempt') throw new Error(line);
    tally.dropped(agenda.now());
  };
  const started = Array.from({ length: workers }, () => {
    const worker = createDispatcher({
      ...{
        client,
        clock,
        random: systemRandom,
        logger: { ...silentLogger, warn },
        telemetry: null,
        schedule: (act, ms) => agenda.after(ms, act),
      },
      ...{
        deliveries: storage.deliveries,
        concurrency,
        delaysMs,
        prefix: 'svc',
        secretOf: () => 'whsec_0123456789abcdef',
      },
    });
    worker.start();
    return worker;
  });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  await settle();
  while (agenda.proceed(untilMs)) await settle();
  const report = tally.report();
  // Attempts under way would be waited for.
  await Promise.race([Promise.all(started.map((worker) => worker.stop())), new Promise(setImmediate)]);
  await storage.close();
  return report;
}
