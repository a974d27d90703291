import type { Context } from 'koa';
import { toPartnerError } from '../errors.ts';
import { discardBody } from '../http/body.ts';
import { RequestInProgressError } from '../idempotency/repeatable-request.ts';
import type { Core } from '../options/context.ts';

/** Converts any error that a partner API request threw into a response. No other code does this. */
export async function answerPartnerError(core: Core, ctx: Context, thrown: unknown): Promise<void> {
  const error = toPartnerError(thrown);
  const requestId = ctx.state.headers['X-Request-Id'];
  const path = ctx.state.route ?? 'unknown';
  if (error instanceof RequestInProgressError) {
    core.options.logger.warn({ requestId, path }, 'a request gave up waiting for the one before it');
  } else if (error.status >= 500) {
    const fields = { requestId, path, err: error.cause ?? error };
    core.options.logger.error(fields, `request failed: ${error.code}`);
  }
  ctx.status = error.status;
  ctx.set(error.headers);
  await discardBody(ctx.req);
  ctx.set('Cache-Control', 'no-store');
  ctx.body = {
    code: error.code,
    message: error.description,
    requestId,
    ...(error.details.length === 0 ? {} : { details: error.details }),
  };
}
