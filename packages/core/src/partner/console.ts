import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { setDocumentHeaders } from '../http/headers.ts';
import type { Handler, Route } from '../http/route.ts';
import type { ConsoleHandler, PartnerConsole } from '../ports/console.ts';
import { createDesk, type DeskParts } from './desk.ts';

const nothingElse = "default-src 'none'";

function handlerOf(answer: ConsoleHandler): Handler {
  return async (ctx: Context) => {
    const parameters: { readonly [name: string]: string } = ctx.params;
    const query = new URLSearchParams(ctx.querystring);
    const { status, headers = {}, body = '', sources } = await answer({ raw: ctx.req, parameters, query });
    setDocumentHeaders(ctx, sources === undefined ? nothingElse : `${nothingElse}; ${sources}`);
    ctx.status = status;
    ctx.type = 'html';
    ctx.set(headers);
    ctx.body = body;
  };
}

/** The pages of a console as routes: method, host and errors are the shell's business. */
export function consoleRoutes(core: Core, partnerConsole: PartnerConsole, parts: DeskParts): Route[] {
  return partnerConsole
    .pages(createDesk(core, partnerConsole, parts))
    .map(({ path, summary, GET, POST }) => ({
      path,
      summary,
      below: 'authUrl',
      errors: 'page',
      handlers: {
        ...(GET === undefined ? {} : { GET: handlerOf(GET) }),
        ...(POST === undefined ? {} : { POST: handlerOf(POST) }),
      },
    }));
}
