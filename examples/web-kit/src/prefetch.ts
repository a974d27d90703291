/** Parts of a Koa context that are used. */
interface Context {
  status: number;
  get(header: string): string;
  set(header: string, value: string): void;
}

/**
 * Answers 204 where a browser asks ahead of its user, who may never go there (`Sec-Purpose`, in older browsers `Purpose`; the router of
 * Next.js). For pages whose GET changes something.
 */
export async function unlessPrefetched(ctx: Context, next: () => Promise<unknown>): Promise<void> {
  const purpose = `${ctx.get('Sec-Purpose')} ${ctx.get('Purpose')} ${ctx.get('X-Moz')}`;
  if (!/\bprefetch\b/i.test(purpose) && ctx.get('Next-Router-Prefetch') === '') {
    await next();
    return;
  }
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 204;
}
