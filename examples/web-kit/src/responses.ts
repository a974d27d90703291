import { readFileSync } from 'node:fs';

/** Members of Koa's context that this file uses. */
interface Answering {
  status: number;
  type: string;
  body: unknown;
  set(field: string, value: string): void;
}

/** Redirects the browser with 303, so that it sends a GET. */
export function seeOther(ctx: Pick<Answering, 'status' | 'set'>, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
}

/** Makes a handler that responds with a script file, which is read once. */
export function scriptRoute(file: URL): (ctx: Pick<Answering, 'type' | 'body'>) => void {
  const content = readFileSync(file);
  return (ctx) => {
    ctx.type = 'text/javascript';
    ctx.body = content;
  };
}
