/**
 * Webhook receiver for Hono, on all of its platforms.
 *
 * @packageDocumentation
 */
import type { RawBody } from '../body.ts';
import type { AnyEvent, WebhookEvent } from '../events.ts';
import { type ReceiverOptions, receiver, requireSize, type WebhookHandler } from './receive.ts';
import { readWebBody } from './web-body.ts';

export type { ReceiverOptions, WebhookHandler } from './receive.ts';

/** The part of Hono's context that the receiver uses. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
}

/**
 * Copies of the request body that Hono keeps after a read through `c.req`. Only these contain the original
 * bytes.
 */
interface Cached {
  readonly bodyCache?: {
    readonly arrayBuffer?: Promise<ArrayBuffer> | ArrayBuffer;
    readonly text?: Promise<string> | string;
  };
}

const advice =
  'A middleware has read the body before this route and Hono kept no raw copy. Move the route above it, or let it read `await c.req.raw.clone().json()` instead of `await c.req.raw.json()` or `await c.req.parseBody()`.';

async function readBody({ raw, bodyCache }: HonoContext['req'] & Cached, most: number): Promise<RawBody> {
  const kept = await (bodyCache?.arrayBuffer ?? bodyCache?.text);
  if (kept === undefined) return readWebBody(raw, most, advice);
  requireSize(typeof kept === 'string' ? new TextEncoder().encode(kept).length : kept.byteLength, most);
  return kept;
}

/**
 * Makes a route handler that receives webhooks. It responds with 200 when your handler is done, 400 to a
 * refused webhook (413 if it is too long), and 500 if your handler throws or the raw body was lost. With
 * `dedupe`, it also responds with 200 to an event that was handled before, 503 while another delivery of the
 * event is being handled, and 500 if the store fails.
 * @throws TypeError for wrong options; WebhookVerificationError `weak_secret`
 * @example
 * ```ts
 * app.post('/webhooks', webhook({ secret: process.env.WEBHOOK_SECRET }, ({ event }) => console.log(event.type)));
 * ```
 */
export function webhook<Event extends AnyEvent = WebhookEvent, Context extends HonoContext = HonoContext>(
  options: ReceiverOptions,
  handler: WebhookHandler<Event, Context>,
): (context: Context) => Promise<Response> {
  const receive = receiver<Event, Context>(options, handler);
  return async (context) => {
    const { status, headers, body } = await receive(
      (most) => readBody(context.req, most),
      context.req.raw.headers,
      context,
    );
    return new Response(body, { status, headers });
  };
}
