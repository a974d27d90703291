import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Logger } from '../telemetry/logger.ts';
import { breakOff } from './break-off.ts';

/** A file whose content is generated while it is sent. */
export interface StreamedFile {
  /** Media type, such as `text/csv; charset=utf-8`. */
  readonly type: string;
  /** Name under which browsers save the file; without a name, browsers show the file instead. */
  readonly fileName?: string;
  readonly stream: AsyncIterable<string>;
}

/**
 * Sends a generated file as the response. Waits for its first part before sending the status, so that a
 * database that does not respond still causes a 503.
 */
export async function writeStream(
  logger: Logger,
  ctx: Context,
  status: number,
  { type, fileName, stream }: StreamedFile,
): Promise<void> {
  const parts = stream[Symbol.asyncIterator]();
  const first = await parts.next();
  async function* all(): AsyncGenerator<string> {
    try {
      if (first.done !== true) yield first.value;
      yield* { [Symbol.asyncIterator]: () => parts };
    } catch (error) {
      const requestId = ctx.state.headers['X-Request-Id'];
      logger.error({ requestId, path: ctx.state.route, err: error }, 'a response broke off');
      // Koa would leave the connection open after an error in the middle of a response.
      breakOff(ctx.res);
    }
  }
  ctx.status = status;
  ctx.set('Content-Type', type);
  if (fileName !== undefined) ctx.set('Content-Disposition', `attachment; filename="${fileName}"`);
  ctx.body = Readable.from(all(), { objectMode: false, highWaterMark: 64 * 1024 });
}
