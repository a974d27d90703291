import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Context } from 'koa';
import type { Logger } from '../telemetry/logger.ts';

/** Text of a stream, in whole messages; it ends soon after the signal was aborted. */
export type StreamMessages = (signal: AbortSignal) => AsyncIterable<string>;

/** Limits of event streams. */
export interface StreamPatience {
  /** Time for which a reader may leave a message unread, in milliseconds. @defaultValue 10000 */
  readonly stuckMs?: number;
  /** Interval of the check whether servers still listen, in milliseconds. @defaultValue 1000 */
  readonly checkMs?: number;
}

/**
 * Checks whether the server of a connection is closing. It waits for its responses, and a stream would delay
 * it.
 */
function isServerClosing({ req: { socket } }: ServerResponse): boolean {
  // Requests of the Web API come over something else than a socket, from a server that never listens.
  if (!(socket instanceof Socket) || !('server' in socket)) return false;
  const { listening } = (socket.server ?? {}) as { readonly listening?: unknown };
  return listening === false;
}

/** Streams of server-sent events (HTML, section 9.2) that are open in this process. */
export function createEventStreams(
  logger: Logger,
  { stuckMs = 10_000, checkMs = 1_000 }: StreamPatience = {},
) {
  const open = new Map<ServerResponse, AbortController>();
  let isEnding = false;
  let watch: NodeJS.Timeout | undefined;

  function endWithServers(): void {
    for (const [response, stop] of open) if (isServerClosing(response)) stop.abort();
  }

  /** Waits until the reader took what was written; one that does not is dropped, because what it is sent would pile up. */
  async function taken(response: ServerResponse, signal: AbortSignal): Promise<void> {
    const deadline = setTimeout(() => response.destroy(), stuckMs);
    await once(response, 'drain', { signal }).finally(() => clearTimeout(deadline));
  }

  async function send(response: ServerResponse, messages: StreamMessages, stop: AbortController) {
    const { signal } = stop;
    open.set(response, stop);
    watch ??= setInterval(endWithServers, checkMs).unref();
    response.once('close', () => stop.abort());
    // A client that left before the response has closed the socket already, and the event comes only once.
    if (response.destroyed) stop.abort();
    try {
      for await (const text of messages(signal)) {
        if (signal.aborted) break;
        if (!response.write(text)) await taken(response, signal);
      }
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'a stream of events broke off');
    }
    open.delete(response);
    if (open.size === 0) {
      clearInterval(watch);
      watch = undefined;
    }
    // Data that a slow reader has not read by now would keep the server from closing.
    if (response.writableNeedDrain) response.destroy();
    else response.end();
  }

  return {
    /** Answers with a stream, which goes on after this returns. With 503 and nothing in it once streams are to end. */
    answer(ctx: Context, messages: StreamMessages): void {
      const stop = new AbortController();
      if (isEnding) {
        ctx.status = 503;
        ctx.set('Retry-After', '5');
      }
      // Compressed, messages would wait in the host's or a proxy's buffer for more.
      ctx.set('Cache-Control', 'no-store, no-transform');
      ctx.set('Content-Type', 'text/event-stream; charset=utf-8');
      ctx.set('X-Accel-Buffering', 'no');
      // Kept for another request, the connection would keep a server that closes for some seconds more.
      ctx.set('Connection', 'close');
      ctx.respond = false;
      ctx.res.flushHeaders();
      if (isEnding || ctx.method === 'HEAD') stop.abort();
      void send(ctx.res, messages, stop);
    },
    /** Ends all of them, and every later one at once. */
    end(): void {
      isEnding = true;
      for (const stop of open.values()) stop.abort();
    },
  };
}

/** See {@link createEventStreams}. */
export type EventStreams = ReturnType<typeof createEventStreams>;
