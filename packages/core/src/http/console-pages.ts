import type { Context } from 'koa';
import type { ConsoleHandler, ConsolePage } from '../ports/console.ts';
import { setDocumentHeaders } from './headers.ts';
import type { Handler, Route } from './route.ts';

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

/** A page of a console as a route: method, host and errors are the shell's business. */
export function pageRoute({
  path,
  summary,
  handlers,
}: Pick<ConsolePage, 'path' | 'summary'> & {
  readonly handlers: { readonly [method: string]: ConsoleHandler | undefined };
}): Route {
  const answered = Object.entries(handlers).flatMap(([method, answer]) =>
    answer === undefined ? [] : [[method, handlerOf(answer)] as const],
  );
  return { path, summary, below: 'authUrl', errors: 'page', handlers: Object.fromEntries(answered) };
}
