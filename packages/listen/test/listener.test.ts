import { setImmediate } from 'node:timers/promises';
import { OstiaryPartner } from '@ostiary/client-sdk';
import { expect, it, onTestFinished } from 'vitest';
import { fakeKey, faulty, refusal } from '../../client-sdk/test/support/faulty.ts';
import { listen } from '../src/listener.ts';

it('waits, rather than asks at once, when the service asks for more time than a timer can take', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => void warnings.push(name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { origin } = await faulty([refusal(503, 'internal_error', { 'retry-after': '9999999' })]);
  const stop = new AbortController();
  const ostiary = new OstiaryPartner({ apiKey: fakeKey, baseUrl: origin });
  const lost: (number | null)[] = [];
  const ended = listen(
    ostiary,
    { endpointId: `we_${'0'.repeat(32)}`, to: new URL('http://localhost:9'), signal: stop.signal },
    { ready() {}, forwarded() {}, found() {}, lost: ({ retryAfter }) => void lost.push(retryAfter) },
  );
  await expect.poll(() => lost).toEqual([9_999_999_000]);
  // The warning comes after the wait has begun.
  await setImmediate();
  stop.abort();
  await ended;
  expect(warnings).not.toContain('TimeoutOverflowWarning');
});
