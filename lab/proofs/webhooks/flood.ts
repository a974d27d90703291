import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createOstiary } from '@ostiary/core';
import type { Mode, Storage } from '@ostiary/core/storage';
import { bodyOf, close, jsonPost, listen, registerEndpoint, serving } from '../../support/http.ts';
import { percentile } from '../../support/measure/statistics.ts';
import { endpointTypes, eventType, options, secret } from '../../support/processes/cluster-options.ts';
import { type Claim, claim, eachOf, until } from '../../support/proof.ts';

/**
 * Maximum time from the publishing to the arrival of an event of the partner that does not flood, in
 * milliseconds.
 */
const limitMs = 1_000;

/** Number of immediate responses of each flooding endpoint. Later responses take nine seconds. */
const quickAnswers = 12;

const slowMs = 9_000;

/** Maximum number of endpoints of one partner and mode (test or live). */
const endpoints = 50;

const otherType = endpointTypes[0] ?? '';

/**
 * Starts a server whose flooding endpoints respond at once at first, and slowly on command. The endpoint
 * `/live` of the other partner always responds at once.
 */
function floodedReceiver() {
  const arrivals = new Map<string, number>();
  const receiver = { isSlow: false, flooding: 0, arrivals };
  const server = createServer(async (request, response) => {
    const at = performance.now();
    await bodyOf(request).catch(() => null);
    if (request.url === '/live') arrivals.set(String(request.headers['x-svc-eventid']), at);
    else {
      receiver.flooding += 1;
      if (receiver.isSlow) await setTimeout(slowMs);
    }
    response.writeHead(204).end();
  });
  return { receiver, server };
}

/**
 * Proves that one partner's flood of events does not delay others. The partner has 50 endpoints, which
 * respond at once until the worker treats them as fast, and then after nine seconds; `events` events go to
 * every endpoint. A live event of another partner must arrive as if there were no flood.
 * @param mode - mode of the flooding endpoints
 */
export async function proveShares(
  storage: Storage,
  { mode, events, samples }: { readonly mode: Mode; readonly events: number; readonly samples: number },
): Promise<Claim> {
  await using ends = new AsyncDisposableStack();
  const ostiary = await createOstiary(
    options(storage, { sealingKey: Buffer.alloc(32, 7).toString('base64url') }),
  );
  ends.defer(() => ostiary.close());
  const { receiver, server } = floodedReceiver();
  const url = await listen(server);
  // Closed first, because the worker would wait for hanging deliveries.
  ends.defer(() => close(server));
  for (const slug of ['flood', 'other']) await ostiary.admin.partners.create({ slug, name: slug });
  const scopes = ['webhooks'] as const;
  const flood = await ostiary.admin.apiKeys.issue({ partner: 'flood', mode, scopes });
  const live = await ostiary.admin.apiKeys.issue({ partner: 'other', mode: 'live', scopes });

  return await serving(ostiary.handler, async (origin) => {
    const publish = async (): Promise<unknown> =>
      mode === 'live'
        ? ostiary.events.publish({ partner: 'flood', type: eventType, data: {} })
        : fetch(
            `${origin}/v1/partner/sandbox/events`,
            jsonPost({ type: eventType }, { 'x-api-key': flood.key }),
          ).then((response) => response.text());
    // Publishes a few events at a time, since each makes 50 deliveries.
    const publishMany = (count: number) => eachOf(Array.from({ length: count }), 4, publish);
    for (let index = 0; index < endpoints; index += 1)
      await registerEndpoint(origin, flood.key, {
        url: `${url}/flood/${index}`,
        events: [eventType],
        secret,
      });
    await registerEndpoint(origin, live.key, { url: `${url}/live`, events: [otherType], secret });

    ostiary.worker.start();
    await publishMany(quickAnswers);
    await until(() => receiver.flooding >= quickAnswers * endpoints, { withinMs: 5_000 });
    receiver.isSlow = true;
    await publishMany(events);
    await setTimeout(1_000);

    const delays: number[] = [];
    for (let sample = 0; sample < samples; sample += 1) {
      const at = performance.now();
      const { id } = await ostiary.events.publish({ partner: 'other', type: otherType, data: {} });
      await until(() => receiver.arrivals.has(id), { everyMs: 5, withinMs: 15_000 });
      delays.push((receiver.arrivals.get(id) ?? Number.POSITIVE_INFINITY) - at);
    }
    const shares = [0.5, 1].map((share) => `${percentile(delays, share).toFixed(0)} ms`);
    return claim(
      `a live event arrives within ${limitMs} ms while ${endpoints} ${mode} endpoints of another partner take ${slowMs} ms`,
      delays.every((delay) => delay < limitMs),
      `after ${shares.join(', ')} (p50, worst); ${receiver.flooding} other requests`,
    );
  });
}
