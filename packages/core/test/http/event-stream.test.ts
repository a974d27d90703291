import { connect } from 'node:net';
import Koa from 'koa';
import { expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import { createEventStreams, type StreamPatience } from '../../src/http/event-stream.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';
import { serve } from '../support/running.ts';

const chunk = 'x'.repeat(1_000_000);

/** Starts a server that sends an endless event stream, and a client that does not read it. */
async function unread(patience: StreamPatience) {
  const streams = createEventStreams(silentLogger, patience);
  const told = { sent: 0, ended: 0, closed: 0 };
  const app = new Koa().use((ctx) => {
    ctx.res.once('close', () => {
      told.closed += 1;
    });
    streams.answer(ctx, async function* (signal) {
      try {
        while (!signal.aborted) {
          told.sent += 1;
          yield chunk;
        }
      } finally {
        told.ended += 1;
      }
    });
  });
  const { hostname, port } = new URL(await serve(app.callback()));
  const socket = connect(Number(port), hostname).pause();
  onTestFinished(() => void socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  return { streams, told };
}

it('a reader that takes nothing is dropped, and what it is sent does not pile up', async () => {
  const { told } = await unread({ stuckMs: 200 });
  await vi.waitFor(() => expect(told.ended).toBe(1), patient);
  // Few messages: the buffers of the two sockets, and one message.
  expect(told.sent).toBeLessThan(20);
});

it('a reader that takes nothing does not keep streams from ending', async () => {
  const { streams, told } = await unread({ stuckMs: 3600_000 });
  await vi.waitFor(() => expect(told.sent).toBeGreaterThan(0), patient);
  streams.end();
  await vi.waitFor(() => expect(told).toMatchObject({ ended: 1, closed: 1 }), patient);
});

it('a reader that is slow gets everything', async () => {
  const streams = createEventStreams(silentLogger, { stuckMs: 3600_000 });
  const app = new Koa().use((ctx) =>
    streams.answer(ctx, async function* () {
      for (let sent = 0; sent < 20; sent += 1) yield chunk;
    }),
  );
  const response = await fetch(await serve(app.callback()));
  expect((await response.text()).length).toBe(20 * chunk.length);
});
