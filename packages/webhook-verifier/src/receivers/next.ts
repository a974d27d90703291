/**
 * Webhook receivers for Next.js: for route handlers of the app router, and for API routes of the pages
 * router.
 *
 * @packageDocumentation
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyEvent, WebhookEvent } from '../events.ts';
import { type ParsedBody, readNodeBody, sendAnswer } from './node-body.ts';
import { type ReceiverOptions, receiver, type WebhookHandler } from './receive.ts';

export { webhook as webhookRoute } from './fetch.ts';
export type { ReceiverOptions, WebhookHandler } from './receive.ts';

const off = '`export const config = { api: { bodyParser: false } };`';
const advice = {
  parsed: `Next.js has parsed the body. Add this line to the file of the API route: ${off}`,
  read: `Something has read the body before this API route. Without a custom server, add this line to its file: ${off}`,
};

/**
 * Makes an API route of the pages router that receives webhooks. Its file must also export `config = { api: {
 * bodyParser: false } }`. It responds like the receivers of the other frameworks.
 * @throws TypeError for wrong options; WebhookVerificationError `weak_secret`
 * @example
 * ```ts
 * export const config = { api: { bodyParser: false } };
 * export default webhookApi({ secret: process.env.WEBHOOK_SECRET }, ({ event }) => console.log(event.type));
 * ```
 */
export function webhookApi<
  Event extends AnyEvent = WebhookEvent,
  Incoming extends IncomingMessage = IncomingMessage,
>(
  options: ReceiverOptions,
  handler: WebhookHandler<Event, Incoming>,
): (request: Incoming, response: ServerResponse) => Promise<void> {
  const receive = receiver<Event, Incoming>(options, handler);
  return async (request, response) => {
    const read = (most: number) => readNodeBody(request, request as ParsedBody, most, advice);
    sendAnswer(response, await receive(read, request.headers, request));
  };
}
