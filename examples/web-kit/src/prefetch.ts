/** Parts of a Koa context that are used. */
interface Context {
  status: number;
  get(header: string): string;
  set(header: string, value: string): void;
}

/** Headers in which browsers name the purpose of a request: today's, and those of older browsers. */
const purposes = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'];

/**
 * Responds with 204 if a browser or the router of Next.js prefetches a page that its user may never open. For
 * pages whose GET changes data.
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
