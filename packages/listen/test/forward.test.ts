import type { InboxRequest } from '@ostiary/client-sdk';
import { expect, it } from 'vitest';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import { forward } from '../src/forward.ts';

it.each([
  { name: 'x-sent-by', value: 'shop\u0001' },
  { name: 'x-sent-by', value: '5 \u20ac' },
  { name: 'x sent by', value: 'shop' },
])('a header that Node refuses to send ends the attempt with an error: %o', async (header) => {
  const local = await sink();
  const request: InboxRequest = {
    id: `in_${'0'.repeat(32)}`,
    endpointId: 'we_1',
    receivedAt: '2030-01-01T00:00:00.000Z',
    method: 'POST',
    headers: [header],
    body: '{}',
    signatureError: null,
    answer: null,
  };
  const answer = await forward(request, new URL(local.url));
  expect(answer).toEqual({ error: 'connection_failed', durationMs: expect.any(Number) });
  expect(local.received).toEqual([]);
});
