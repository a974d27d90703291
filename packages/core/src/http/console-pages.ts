import type { Context } from 'koa';
import type { ConsoleHandler, ConsolePage } from '../ports/partner-console.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { EventStreams } from './event-stream.ts';
import { setDocumentHeaders } from './headers.ts';
import type { Handler, Route } from './route.ts';
import { writeStream } from './write-stream.ts';

const nothingElse = "default-src 'none'";

function handlerOf(logger: Logger, answer: ConsoleHandler, streams: EventStreams | null): Handler {
  return async (ctx: Context) => {
    const parameters: { readonly [name: string]: string } = ctx.params;
    const query = new URLSearchParams(ctx.querystring);
    const request = { raw: ctx.req, parameters, query };
    const { status, headers = {}, body = '', sources, stream, download } = await answer(request);
    setDocumentHeaders(ctx, sources === undefined ? nothingElse : `${nothingElse}; ${sources}`);
    ctx.status = status;
    ctx.type = 'html';
    ctx.set(headers);
    if (download !== undefined) await writeStream(logger, ctx, status, download);
    else if (stream === undefined) ctx.body = body;
    else if (streams === null) throw new TypeError('console: this page cannot respond with a stream');
    else streams.answer(ctx, stream);
  };
}

/**
 * Makes a route of a console page. The request handler checks the method and renders errors. If `streams` is
 * given, the page may respond with an event stream.
 */
export function pageRoute(
  logger: Logger,
  {
    path,
    summary,
    handlers,
  }: Pick<ConsolePage, 'path' | 'summary'> & {
    readonly handlers: { readonly [method: string]: ConsoleHandler | undefined };
  },
  streams: EventStreams | null = null,
): Route {
  const answered = Object.entries(handlers).flatMap(([method, answer]) =>
    answer === undefined ? [] : [[method, handlerOf(logger, answer, streams)] as const],
  );
  return { path, summary, below: 'authUrl', errors: 'page', handlers: Object.fromEntries(answered) };
}
