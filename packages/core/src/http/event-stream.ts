import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Context } from 'koa';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Source of the text of a server-sent event stream, in whole messages. It ends soon after the signal aborts.
 */
export type StreamMessages = (signal: AbortSignal) => AsyncIterable<string>;

/** Time limits of event streams. */
export interface StreamPatience {
  /** Time for which a client may leave a message unread, in milliseconds. @defaultValue 10000 */
  readonly stuckMs?: number;
  /**
   * Interval at which event streams check whether their server still listens, in milliseconds. @defaultValue
   * 1000
   */
  readonly checkMs?: number;
}

/**
 * Checks whether the server of a connection is closing. An open response would delay that.
 */
export function isServerClosing({ req: { socket } }: ServerResponse): boolean {
  // Requests of the Web API have another kind of socket and no Node server.
  if (!(socket instanceof Socket) || !('server' in socket)) return false;
  const { listening } = (socket.server ?? {}) as { readonly listening?: unknown };
  return listening === false;
}

/** Creates the registry of server-sent event streams (HTML, section 9.2) that are open in this process. */
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

  /**
   * Waits until the client has received the written messages. Disconnects a client that does not read,
   * because unread messages would fill the memory.
   */
  async function taken(response: ServerResponse, signal: AbortSignal): Promise<void> {
    const deadline = setTimeout(() => response.destroy(), stuckMs);
    await once(response, 'drain', { signal }).finally(() => clearTimeout(deadline));
  }

  async function send(response: ServerResponse, messages: StreamMessages, stop: AbortController) {
    const { signal } = stop;
    open.set(response, stop);
    watch ??= setInterval(endWithServers, checkMs).unref();
    response.once('close', () => stop.abort());
    // A client that left before the response has already closed the socket, and `close` is not emitted again.
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
    // Unread data of a slow client would keep the server from closing.
    if (response.writableNeedDrain) response.destroy();
    else response.end();
  }

  return {
    /**
     * Starts an event stream as the response, and returns before the stream ends. Responds with an empty 503
     * after all streams have been ended.
     */
    answer(ctx: Context, messages: StreamMessages): void {
      const stop = new AbortController();
      if (isEnding) {
        ctx.status = 503;
        ctx.set('Retry-After', '5');
      }
      // Compression would make the host or a proxy hold messages back in its buffer.
      ctx.set('Cache-Control', 'no-store, no-transform');
      ctx.set('Content-Type', 'text/event-stream; charset=utf-8');
      ctx.set('X-Accel-Buffering', 'no');
      // Keep-alive would keep a closing server waiting for some seconds more.
      ctx.set('Connection', 'close');
      ctx.respond = false;
      ctx.res.flushHeaders();
      if (isEnding || ctx.method === 'HEAD') stop.abort();
      void send(ctx.res, messages, stop);
    },
    /** Ends all open event streams, and makes later ones end at once. */
    end(): void {
      isEnding = true;
      for (const stop of open.values()) stop.abort();
    },
  };
}

/** Event streams that are open in this process; see {@link createEventStreams}. */
export type EventStreams = ReturnType<typeof createEventStreams>;
