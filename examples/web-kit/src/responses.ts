import { readFileSync } from 'node:fs';

/** Parts of Koa's context that responses need. */
interface Answering {
  status: number;
  type: string;
  body: unknown;
  set(field: string, value: string): void;
}

/** Redirects the browser with a GET, after a form or instead of a page. */
export function seeOther(ctx: Pick<Answering, 'status' | 'set'>, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
}

/** Responds with a script of ours, which is read once. */
export function scriptRoute(file: URL): (ctx: Pick<Answering, 'type' | 'body'>) => void {
  const content = readFileSync(file);
  return (ctx) => {
    ctx.type = 'text/javascript';
    ctx.body = content;
  };
}
