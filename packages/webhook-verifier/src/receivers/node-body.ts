import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RawBody } from '../body.ts';
import { WebhookVerificationError } from '../errors.ts';
import { readChunks } from './body-chunks.ts';
import { type Answer, requireSize } from './receive.ts';

/** Advice for the developer if the raw body was lost, in the terms of the framework. */
export interface Advice {
  /** Advice if a body parser has replaced the bytes by an object. */
  readonly parsed: string;
  /** Advice if the body was read and the bytes were not kept. */
  readonly read: string;
}

/** Properties in which parsers of Node frameworks store the body. */
export interface ParsedBody {
  readonly body?: unknown;
  /** Raw bytes of the body, if a body parser was configured to keep them. */
  readonly rawBody?: unknown;
}

function isRaw(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || ArrayBuffer.isView(value);
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Returns the raw body of a request: the bytes or text that a body parser kept, or else the bytes of the
 * stream.
 * @throws WebhookVerificationError if the bytes are lost, if they are too many, or if the sender disconnects
 */
export async function readNodeBody(
  request: IncomingMessage,
  { body, rawBody }: ParsedBody,
  most: number,
  advice: Advice,
): Promise<RawBody> {
  const unread = !(request.readableDidRead || request.readableEnded || request.destroyed);
  const kept = isRaw(rawBody) ? rawBody : body;
  if (isRaw(kept) && !(unread && kept.length === 0)) {
    requireSize(typeof kept === 'string' ? Buffer.byteLength(kept) : kept.byteLength, most);
    return kept;
  }
  // Older body parsers set an empty object if they have read nothing.
  if (body !== undefined && body !== null && !(unread && (isEmptyObject(body) || body === ''))) {
    throw new WebhookVerificationError('body_already_parsed', advice.parsed);
  }
  if (!unread) throw new WebhookVerificationError('body_already_read', advice.read);
  const chunks = request[Symbol.asyncIterator]();
  return readChunks(() => chunks.next(), Number(request.headers['content-length'] ?? 0), most);
}

/**
 * Returns the headers of a response. If the body was too long, they close the connection, because not all of
 * the body may be read.
 */
export function nodeHeaders({ status, headers }: Answer): { [name: string]: string } {
  return status === 413 ? { ...headers, Connection: 'close' } : { ...headers };
}

/** Sends a response with Node's own API. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, nodeHeaders(answer));
  response.end(answer.body);
}
