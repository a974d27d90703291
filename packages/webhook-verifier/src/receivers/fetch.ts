/**
 * Webhook receiver for every framework that responds to a Fetch `Request`: Workers, Deno, Bun, SvelteKit,
 * Remix, Astro, …
 *
 * @packageDocumentation
 */
import type { AnyEvent, WebhookEvent } from '../events.ts';
import { type ReceiverOptions, receiver, type WebhookHandler } from './receive.ts';
import { readWebBody } from './web-body.ts';

export type { ReceiverOptions, WebhookHandler } from './receive.ts';

const advice =
  'Something has read the body of this request before. Give that reader a copy: `await request.clone().json()` instead of `await request.json()`.';

/** Argument of a route in SvelteKit and Remix: an object that contains the request. */
export interface RequestEvent {
  readonly request: Request;
}

/**
 * Makes a webhook receiver for a Fetch request, or for an object with a `request` member, as SvelteKit and
 * Remix pass it. It responds with 200 when your handler is done, 400 to a refused webhook (413 if it is too
 * long), and 500 if your handler throws or the raw body was lost. With `dedupe`, it also responds with 200 to
 * an event that was handled before, 503 while another delivery of the event is being handled, and 500 if the
 * store fails.
 * @throws TypeError for wrong options; WebhookVerificationError `weak_secret`
 * @example
 * ```ts
 * export default { fetch: (request: Request, env: { WEBHOOK_SECRET: string }) => webhook({ secret: env.WEBHOOK_SECRET }, ({ event }) => console.log(event.type))(request) };
 * ```
 */
export function webhook<Event extends AnyEvent = WebhookEvent>(
  options: ReceiverOptions,
  handler: WebhookHandler<Event, Request>,
): (given: Request | RequestEvent) => Promise<Response> {
  const receive = receiver<Event, Request>(options, handler);
  return async (given) => {
    const request = 'request' in given ? given.request : given;
    const { status, headers, body } = await receive(
      (most) => readWebBody(request, most, advice),
      request.headers,
      request,
    );
    return new Response(body, { status, headers });
  };
}
