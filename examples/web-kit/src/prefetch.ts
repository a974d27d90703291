/** Members of a Koa context that this file uses. */
interface Context {
  status: number;
  get(header: string): string;
  set(header: string, value: string): void;
}

/** Headers with which browsers mark a prefetch: the current header, and those of older browsers. */
const purposes = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];

/**
 * Responds with 204 to a prefetch by a browser or the router of Next.js, because the user may never open the
 * page. For pages whose GET changes data.
 */
export async function unlessPrefetched(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  const isAhead =
    purposes.some((name) => /\bpre(?:fetch|render|view)\b/i.test(ctx.get(name))) ||
    ctx.get('Next-Router-Prefetch') !== '';
  if (!isAhead) {
    await next();
    return;
  }
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 204;
}
