/**
 * Webhook receiver for Fastify 4 and 5, as a plugin.
 *
 * @packageDocumentation
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { RawBody } from '../body.ts';
import { WebhookVerificationError } from '../errors.ts';
import type { AnyEvent, WebhookEvent } from '../events.ts';
import { readChunks } from './body-chunks.ts';
import { defaultMaxBodyBytes, type ReceiverOptions, receiver, type WebhookHandler } from './receive.ts';

export type { ReceiverOptions, WebhookHandler } from './receive.ts';

/** The part of Fastify's request that the receiver uses. */
export interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

interface FastifyReply {
  code(status: number): FastifyReply;
  headers(headers: { [name: string]: string }): FastifyReply;
  send(body: string): FastifyReply;
}

/**
 * Methods of a Fastify instance that all versions have. The overloads of Fastify would need a much longer
 * type.
 */
export interface FastifyInstance {
  readonly removeAllContentTypeParsers: unknown;
  readonly addContentTypeParser: unknown;
  readonly addHook: unknown;
  readonly post: unknown;
}

/** The part of a Fastify plugin's own instance that the receiver uses. */
interface Scope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    type: string,
    parser: (
      request: FastifyRequest,
      payload: Readable,
      done: (error: null, body: Buffer | WebhookVerificationError) => void,
    ) => void,
  ): unknown;
  addHook(
    name: 'preParsing',
    hook: (
      request: never,
      reply: never,
      payload: never,
      done: (error?: Error | null, payload?: never) => void,
    ) => void,
  ): unknown;
  post(path: string, handler: (request: never, reply: never) => Promise<unknown>): unknown;
}

const advice = {
  parsed:
    'A hook has replaced the body before this plugin saw it. Register the plugin outside of the scope of that hook: `app.register(webhook(…))` beside `app.register(…)` of the other routes, not inside.',
  read: 'A hook has read the stream of this request. Let it return what it has read: `return Readable.from([bytes])` at the end of the preParsing hook.',
};

/**
 * Makes a plugin with one POST route for webhooks, at the `prefix` that it is registered with. The plugin
 * takes the body as bytes in its own scope; the parsers of other routes are unchanged. It responds with 200
 * when your handler is done, 400 to a refused webhook (413 if it is too long), and 500 if your handler throws
 * or the raw body was lost. With `dedupe`, it also responds with 200 to an event that was handled before, 503
 * while another delivery of the event is being handled, and 500 if the store fails.
 * @throws TypeError for wrong options; WebhookVerificationError `weak_secret`
 * @example
 * ```ts
 * app.register(webhook({ secret: process.env.WEBHOOK_SECRET }, ({ event }) => console.log(event.type)), { prefix: '/webhooks' });
 * ```
 */
export function webhook<
  Event extends AnyEvent = WebhookEvent,
  Incoming extends FastifyRequest = FastifyRequest,
>(
  options: ReceiverOptions,
  handler: WebhookHandler<Event, Incoming>,
): (instance: FastifyInstance) => Promise<void> {
  const receive = receiver<Event, Incoming>(options, handler);
  const { maxBodyBytes = defaultMaxBodyBytes } = options;
  const answerTo = async (
    readBody: () => RawBody,
    request: Incoming,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { status, headers, body } = await receive(readBody, request.headers, request);
    return reply
      .code(status)
      .headers({ ...headers })
      .send(body);
  };
  return async (instance) => {
    const scope = instance as Scope;
    scope.removeAllContentTypeParsers();
    // Replaces Fastify's own length limit, which would close the connection while a proxy still sends. The
    // route responds to an error.
    scope.addContentTypeParser('*', ({ headers }, payload, done) => {
      const chunks = payload[Symbol.asyncIterator]();
      const announced = Number(headers['content-length'] ?? 0);
      readChunks(() => chunks.next(), announced, maxBodyBytes).then(
        (bytes) => done(null, Buffer.from(bytes.buffer)),
        (error) => done(null, error),
      );
    });
    // Fastify would wait for ever for the end of a stream that has already ended.
    scope.addHook('preParsing', (request: Incoming, reply: FastifyReply, payload: unknown, done) => {
      if (payload !== request.raw || !(request.raw.readableDidRead || request.raw.readableEnded))
        return done();
      const refuse = () => {
        throw new WebhookVerificationError('body_already_read', advice.read);
      };
      answerTo(refuse, request, reply).catch(done);
    });
    scope.post('/', (request: Incoming, reply: FastifyReply) => {
      const read = (): RawBody => {
        const { body } = request;
        if (body instanceof WebhookVerificationError) throw body;
        if (body !== undefined && body !== null && !Buffer.isBuffer(body)) {
          throw new WebhookVerificationError('body_already_parsed', advice.parsed);
        }
        return body as Buffer;
      };
      return answerTo(read, request, reply);
    });
  };
}
