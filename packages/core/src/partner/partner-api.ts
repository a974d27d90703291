import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { hasBody, readBody } from '../http/body.ts';
import { isServerClosing } from '../http/event-stream.ts';
import { writeJson } from '../http/headers.ts';
import type { Route } from '../http/route.ts';
import { writeStream } from '../http/write-stream.ts';
import type { Core } from '../options/context.ts';
import { apiKeyField } from '../secrets/api-key-format.ts';
import type { PartnerCall, Pipeline } from './pipeline/pipeline.ts';
import type { PartnerAnswer, PartnerRoute } from './request.ts';
import type { RequestNotes } from './request-log.ts';

const noBytes = Buffer.alloc(0);

/**
 * Returns the API key in the headers of a request. Node joins repeated headers with a comma, which no valid
 * key contains.
 */
function presentedKey({ headers }: IncomingMessage): string | undefined {
  const value = headers[apiKeyField];
  return typeof value === 'string' ? value : undefined;
}

/** Returns all values of a header from the request's raw headers, because Node joins repeated headers. */
function headerValues({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/** Sends the response that a handler of the partner API returned. */
async function writeAnswer(core: Core, ctx: Context, answer: PartnerAnswer): Promise<void> {
  if ('stream' in answer) return await writeStream(core.options.logger, ctx, answer.status, answer);
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

  // The request handler expects one route for all methods of a path.
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
