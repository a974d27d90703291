import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { breakOff } from '../http/break-off.ts';
import { writeJson } from '../http/headers.ts';
import type { Core } from '../options/context.ts';
import type { PartnerAnswer } from './request.ts';

/**
 * Sends a stream. Waits for its first part before sending the status, so that a database that does not
 * respond still causes a 503.
 */
async function writeStream(
  core: Core,
  ctx: Context,
  answer: Extract<PartnerAnswer, { stream: unknown }>,
): Promise<void> {
  const parts = answer.stream[Symbol.asyncIterator]();
  const first = await parts.next();
  async function* all(): AsyncGenerator<string> {
    try {
      if (first.done !== true) yield first.value;
      yield* { [Symbol.asyncIterator]: () => parts };
    } catch (error) {
      const requestId = ctx.state.headers['X-Request-Id'];
      core.options.logger.error({ requestId, path: ctx.state.route, err: error }, 'a response broke off');
      // Koa would leave the connection open after an error in the middle of a response.
      breakOff(ctx.res);
    }
  }
  ctx.status = answer.status;
  ctx.set('Content-Type', answer.type);
  if (answer.fileName !== undefined)
    ctx.set('Content-Disposition', `attachment; filename="${answer.fileName}"`);
  ctx.body = Readable.from(all(), { objectMode: false, highWaterMark: 64 * 1024 });
}

/** Sends the response of a handler. */
export async function writeAnswer(core: Core, ctx: Context, answer: PartnerAnswer): Promise<void> {
  if ('stream' in answer) return await writeStream(core, ctx, answer);
  if (answer.replayed === true) ctx.state.headers['Idempotent-Replayed'] = 'true';
  const json = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  ctx.state.answered = json;
  writeJson(ctx, answer.status, json);
}
