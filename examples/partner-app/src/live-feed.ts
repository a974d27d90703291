import { PassThrough } from 'node:stream';
import type { Context } from 'koa';

/** Pages that follow what happens, by server-sent events. */
export interface LiveFeed {
  /** Something changed: every page that is open gets its part anew, if it differs. */
  changed(): void;
  /** Answers with a stream that begins with the part of a page as it is now. `part` renders it. */
  follow(ctx: Context, part: () => string): void;
  /** Ends every stream. */
  close(): void;
}

/** Proxies and browsers give up on streams that are silent for longer than about half a minute. */
const keepAliveMs = 20_000;
const maximum = 200;
/** Of a reader that does not read, as much is kept. */
const mostUnread = 1_000_000;

export function createLiveFeed(): LiveFeed {
  const followers = new Set<{ readonly stream: PassThrough; readonly send: () => void }>();
  const keepAlive = setInterval(() => {
    for (const { stream } of followers) stream.write(':\n\n');
  }, keepAliveMs);
  keepAlive.unref();
  let pending = false;

  return {
    changed() {
      if (pending) return;
      pending = true;
      // Changes of the same moment are one.
      setImmediate(() => {
        pending = false;
        for (const { send } of followers) send();
      });
    },

    follow(ctx, part) {
      if (followers.size >= maximum) {
        ctx.status = 503;
        return;
      }
      ctx.type = 'text/event-stream';
      ctx.status = 200;
      // A connection that was a stream serves nothing else, and ends when the stream does.
      ctx.set('Connection', 'close');
      const stream = new PassThrough();
      let sent: string | null = null;
      const follower = {
        stream,
        send() {
          const now = part();
          if (now === sent) return;
          sent = now;
          if (stream.writableLength > mostUnread) {
            stream.destroy();
            return;
          }
          // JSON has no line breaks, which would end the event.
          stream.write(`data: ${JSON.stringify(now)}\n\n`);
        },
      };
      followers.add(follower);
      stream.once('close', () => void followers.delete(follower));
      stream.write('retry: 2000\n\n');
      follower.send();
      ctx.body = stream;
    },

    close() {
      clearInterval(keepAlive);
      for (const { stream } of followers) stream.end();
      // A webhook may still arrive while the shop closes; nothing can be written to what has ended.
      followers.clear();
    },
  };
}
