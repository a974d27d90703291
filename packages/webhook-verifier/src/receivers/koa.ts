/**
 * Webhook receiver for Koa 2 and 3.
 *
 * @packageDocumentation
 */
import type { IncomingMessage } from 'node:http';
import type { AnyEvent, WebhookEvent } from '../events.ts';
import { nodeHeaders, type ParsedBody, readNodeBody } from './node-body.ts';
import { type ReceiverOptions, receiver, type WebhookHandler } from './receive.ts';

export type { ReceiverOptions, WebhookHandler } from './receive.ts';

/** The part of Koa's context that the receiver uses. */
export interface KoaContext {
  readonly req: IncomingMessage;
  readonly request: object;
  status: number;
  body: unknown;
  set(headers: { [name: string]: string }): void;
}

const advice = {
  parsed:
    'A body parser ran before this receiver and kept no raw body. Put `app.use(webhookRoute)` above `app.use(bodyParser())`.',
  read: 'Something read the body before this receiver and kept nothing. Put `app.use(webhookRoute)` above it.',
};

/**
 * Makes a middleware that receives webhooks and ends the request: put it behind a route, before any body
 * parser. It responds with 200 when your handler is done, 400 to a refused webhook (413 if it is too long),
 * and 500 if your handler throws or the raw body was lost. With `dedupe`, it also responds with 200 to an
 * event that was handled before, 503 while another delivery of the event is being handled, and 500 if the
 * store fails.
 * @throws TypeError for wrong options; WebhookVerificationError `weak_secret`
 * @example
 * ```ts
 * router.post('/webhooks', webhook({ secret: process.env.WEBHOOK_SECRET }, ({ event }) => console.log(event.type)));
 * ```
 */
export function webhook<Event extends AnyEvent = WebhookEvent, Context extends KoaContext = KoaContext>(
  options: ReceiverOptions,
  handler: WebhookHandler<Event, Context>,
): (context: Context) => Promise<void> {
  const receive = receiver<Event, Context>(options, handler);
  return async (context) => {
    const read = (most: number) => readNodeBody(context.req, context.request as ParsedBody, most, advice);
    const answer = await receive(read, context.req.headers, context);
    context.status = answer.status;
    context.body = answer.body;
    context.set(nodeHeaders(answer));
  };
}
