import type { Context } from 'koa';
import type { Core } from '../context.ts';
import type { EventStreams } from '../http/event-stream.ts';
import { setDocumentHeaders } from '../http/headers.ts';
import type { Handler, Route } from '../http/route.ts';
import type { ConsoleHandler, PartnerConsole } from '../ports/console.ts';
import { createDesk, type DeskParts } from './desk.ts';

const nothingElse = "default-src 'none'";

function handlerOf(answer: ConsoleHandler, streams: EventStreams): Handler {
  return async (ctx: Context) => {
    const parameters: { readonly [name: string]: string } = ctx.params;
    const query = new URLSearchParams(ctx.querystring);
    const request = { raw: ctx.req, parameters, query };
    const { status, headers = {}, body = '', sources, stream } = await answer(request);
    setDocumentHeaders(ctx, sources === undefined ? nothingElse : `${nothingElse}; ${sources}`);
    ctx.status = status;
    ctx.type = 'html';
    ctx.set(headers);
    if (stream === undefined) ctx.body = body;
    else streams.answer(ctx, stream);
  };
}

/** The pages of a console as routes: method, host and errors are the shell's business. */
export function consoleRoutes(
  core: Core,
  partnerConsole: PartnerConsole,
  { streams, ...parts }: DeskParts & { readonly streams: EventStreams },
): Route[] {
  return partnerConsole
    .pages(createDesk(core, partnerConsole, parts))
    .map(({ path, summary, GET, POST }) => ({
      path,
      summary,
      below: 'authUrl',
      errors: 'page',
      handlers: {
        ...(GET === undefined ? {} : { GET: handlerOf(GET, streams) }),
        ...(POST === undefined ? {} : { POST: handlerOf(POST, streams) }),
      },
    }));
}
