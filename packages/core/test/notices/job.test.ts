import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it, vi } from 'vitest';
import { noticeHandler } from '../../src/notices/job.ts';
import type { Core } from '../../src/options/context.ts';
import { parseOptions } from '../../src/options/parse.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';

it('a call of notify that takes longer than ten seconds has failed', async () => {
  const options = await parseOptions({
    ...{ authUrl: 'https://id.example', storage: memoryStorage(), sealingKeys: [new Uint8Array(32)] },
    ...{ users: { find: () => null }, login: { authenticate: () => null, loginUrl: () => '/' } },
    logger: silentLogger,
    notify: () => new Promise(() => undefined),
  });
  vi.useFakeTimers();
  const handle = noticeHandler({ options, clock: { now: () => 5 } } as unknown as Core);
  const job = { id: 'a', kind: 'notice', payload: { notice: {} }, dueAt: 0, claimId: 'c', attempt: 1 };
  const result = handle(job.payload, { ...job, owner: '' });
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  expect(await result).toEqual({ dueAt: 60_005 });
});
