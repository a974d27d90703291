import { readFileSync } from 'node:fs';

/** As much of Koa's context as it takes to answer. */
interface Answering {
  status: number;
  type: string;
  body: unknown;
  set(field: string, value: string): void;
}

/** Sends the browser on, with a GET, after a form or instead of a page. */
export function seeOther(ctx: Pick<Answering, 'status' | 'set'>, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
}

/** Answers with a script of ours, which is read once. */
export function scriptRoute(file: URL): (ctx: Pick<Answering, 'type' | 'body'>) => void {
  const content = readFileSync(file);
  return (ctx) => {
    ctx.type = 'text/javascript';
    ctx.body = content;
  };
}
