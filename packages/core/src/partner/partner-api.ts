import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { hasBody, readBody } from '../http/body.ts';
import { breakOff } from '../http/break-off.ts';
import { isServerClosing } from '../http/event-stream.ts';
import { writeJson } from '../http/headers.ts';
import type { Route } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import { apiKeyField } from '../secrets/api-key-format.ts';
import type { PartnerCall, Pipeline } from './pipeline/pipeline.ts';
import type { PartnerAnswer, PartnerRoute } from './request.ts';
import type { RequestNotes } from './request-log.ts';

const noBytes = Buffer.alloc(0);

/**
 * Returns the API key that the request presents. Node joins repeated headers with a comma, which no valid key
 * contains.
 */
function presentedKey({ headers }: IncomingMessage): string | undefined {
  const value = headers[apiKeyField];
  return typeof value === 'string' ? value : undefined;
}

/** Returns all values of a header from the raw headers, because Node joins repeated ones. */
function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

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
async function writeAnswer(core: Core, ctx: Context, answer: PartnerAnswer): Promise<void> {
  if ('stream' in answer) return await writeStream(core, ctx, answer);
  if (answer.replayed === true) ctx.state.headers['Idempotent-Replayed'] = 'true';
  const json = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  ctx.state.answered = json;
  writeJson(ctx, answer.status, json);
}

/** Creates the routes of the partner API. Every request goes through the pipeline. */
export function partnerApi(
  core: Core,
  table: readonly PartnerRoute[],
  pipeline: Pipeline,
  notes: RequestNotes,
): Route[] {
  async function answer(ctx: Context, route: PartnerRoute): Promise<void> {
    const { req } = ctx;
    const call: PartnerCall = {
      operation: route,
      credential: { text: presentedKey(req) },
      address: () => core.clientAddress(req),
      isOver: () => ctx.res.destroyed || isServerClosing(ctx.res),
      limit: route.limit,
      headers: req.headers,
      idempotencyKeys: route.idempotent ? headerValues(req, 'idempotency-key') : [],
      path: ctx.params,
      querystring: ctx.querystring,
      // Use the actual path, not the route's pattern: one body may be sent to several resources.
      target: `${route.method} ${ctx.newRouterPath ?? route.path}`,
      readBody: async () => (hasBody(req) ? await readBody(req) : noBytes),
      now: core.clock.now(),
      answerHeaders: ctx.state.headers,
      key: null,
      bytes: null,
    };
    if (route.isLogged !== false) notes.note(ctx, call);
    await writeAnswer(core, ctx, await pipeline.answer(call));
  }

  // The shell expects one route for all methods of a path.
  return [...Map.groupBy(table, ({ path }) => path)].map(([path, methods]) => ({
    path,
    summary: methods.map((route) => route.summary).join(' '),
    below: 'baseUrl',
    errors: 'partner',
    handlers: Object.fromEntries(
      methods.map((route) => [route.method, (ctx: Context) => answer(ctx, route)]),
    ),
  }));
}
