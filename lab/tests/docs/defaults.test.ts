import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { defaultOptions } from '@ostiary/core';
import { expect, test } from 'vitest';
import { createEndpointLimiter } from '../../../packages/core/src/webhooks/endpoint-limiter.ts';
import { maxAtAddress } from '../../../packages/core/src/webhooks/target-limits.ts';

const docs = resolve(import.meta.dirname, '../../../docs');
const page = (name: string): string => readFileSync(join(docs, name), 'utf8').replace(/\s+/g, ' ');

const delays = defaultOptions.webhooks.retryDelaysSeconds;

/** Writes a number of seconds as minutes or, from an hour on, as hours. */
function duration(seconds: number): string {
  const [count, unit] = seconds < 3600 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

test('docs describe the waits between attempts of a delivery as they are', () => {
  const [first, second, third, fourth] = delays.map(duration);
  const lastMinutes = delays.reduce((sum, seconds) => sum + seconds, 0) / 60;
  const last = `${Math.floor(lastMinutes / 60)} hours and ${lastMinutes % 60} minutes`;
  expect(delays).toHaveLength(4);
  expect(page('webhooks.md')).toContain(`1 minute later, then ${second}, ${third} and ${fourth}.`);
  expect(page('diagrams/retries.svg')).toContain(
    `the second follows after ${first}, the third after ${second}, the fourth after ${third}, the fifth after ${fourth}. ` +
      `Then the delivery is dropped, ${last} after the first. ` +
      `The event is kept for ${defaultOptions.webhooks.retentionDays} days`,
  );
  const labels = [...page('diagrams/retries.svg').matchAll(/>\+ (\d+) (min|h)</g)];
  expect(labels.map(([, count, unit]) => Number(count) * (unit === 'h' ? 3600 : 60))).toEqual([...delays]);
});

test('the page about configuration has the defaults of the options', () => {
  const configuration = page('configuration.md');
  const { prefix, theme, webhooks } = defaultOptions;
  const minutes = delays.slice(0, 3).map((seconds) => seconds / 60);
  const rows = [
    ['`OSTIARY_PREFIX`', `\`${prefix}\``],
    ['`OSTIARY_NAME`, `OSTIARY_COLOUR`', `\`${theme.name}\`,`],
    ['`OSTIARY_WEBHOOK_RETRY_DELAYS`', `${minutes.join(', ')} minutes, ${duration(delays[3])} |`],
    ['`OSTIARY_EVENT_RETENTION_DAYS`', `${webhooks.retentionDays} days`],
  ];
  for (const row of rows) expect(configuration).toContain(row.join(' | '));
});

test('docs name the limits of simultaneous attempts as they are', () => {
  const { concurrency } = defaultOptions.webhooks;
  const limiter = createEndpointLimiter(concurrency);
  const attempt = (endpoint: string, answeredMs: number | null): void => {
    limiter.begin(endpoint);
    limiter.end(endpoint, answeredMs);
  };
  for (let count = 0; count < concurrency; count += 1) attempt('prompt', 100);
  const toOne = limiter.slots().get('prompt');
  attempt('silent', null);
  expect(limiter.slots().get('silent')).toBe(1);
  const scaling = page('scaling.md');
  expect(scaling).toContain(
    `up to ${concurrency} simultaneous webhook attempts, of which at most ${toOne} go to one endpoint.`,
  );
  expect(scaling).toContain(`up to ${toOne} at a time from each worker.`);
  const webhooks = page('webhooks.md');
  expect(webhooks).toContain('After an attempt without a response, an endpoint gets one attempt at a time');
  expect(limiter.free / concurrency).toBe(0.75);
  expect(webhooks).toContain("together use at most three quarters of a worker's simultaneous attempts.");
  expect(webhooks).toContain(`sends at most ${maxAtAddress} simultaneous requests to one IP address,`);
  expect(webhooks).toContain(
    `Of a worker's ${maxAtAddress} simultaneous requests to an IP address, one partner`,
  );
});
