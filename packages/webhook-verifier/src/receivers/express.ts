/**
 * Webhook receiver for Express 4 and 5, and for any framework that takes `(request, response, next)`.
 *
 * @packageDocumentation
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyEvent, WebhookEvent } from '../events.ts';
import { type ParsedBody, readNodeBody, sendAnswer } from './node-body.ts';
import { type ReceiverOptions, receiver, type WebhookHandler } from './receive.ts';

export type { ReceiverOptions, WebhookHandler } from './receive.ts';

const keep = '`app.use(express.json({ verify: (req, _res, bytes) => { req.rawBody = bytes; } }))`';
const advice = {
  parsed: `A body parser ran before this route. Move the route above \`app.use(express.json())\`, or change that line to ${keep}.`,
  read: `Something read the body before this route and kept nothing. Move the route above it; if it is a body parser, change its line to ${keep}.`,
};

/**
 * Makes a route handler that receives webhooks and needs no body parser. It responds with 200 when your
 * handler is done, 400 to a refused webhook (413 if it is too long), and 500 if your handler throws or the
 * raw body was lost. With `dedupe`, it also responds with 200 to an event that was handled before, 503 while
 * another delivery of the event is being handled, and 500 if the store fails.
 * @throws TypeError for wrong options; WebhookVerificationError `weak_secret`
 * @example
 * ```ts
 * app.post('/webhooks', webhook({ secret: process.env.WEBHOOK_SECRET }, async ({ event }) => {
 *   if (event.type === 'payment.completed') await markPaid(event.data.id);
 * }));
 * ```
 */
export function webhook<
  Event extends AnyEvent = WebhookEvent,
  Incoming extends IncomingMessage = IncomingMessage,
>(
  options: ReceiverOptions,
  handler: WebhookHandler<Event, Incoming>,
): (request: Incoming, response: ServerResponse, next: (error?: unknown) => void) => Promise<void> {
  const receive = receiver<Event, Incoming>(options, handler);
  return async (request, response, next) => {
    try {
      const read = (most: number) => readNodeBody(request, request as ParsedBody, most, advice);
      sendAnswer(response, await receive(read, request.headers, request));
    } catch (error) {
      next(error);
    }
  };
}
