import type { FetchResponse } from '../options.ts';

/**
 * Maximum size of a response body that is read into memory as a whole, in bytes; in characters on platforms
 * without streams. A longer body causes {@link Unreadable}. An export that is read as a stream has no limit.
 */
const most = 64 * 1024 * 1024;

/** Thrown for a response that cannot be read, or that is not a valid response of this API. */
export class Unreadable extends Error {
  readonly code: string;

  constructor(message = 'Not a response of this API', code = 'unexpected_answer') {
    super(message);
    this.code = code;
  }
}

/** Wraps an error that `fetch` or the reading of a response body has thrown. Not part of the public API. */
export class Broken {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    this.thrown = thrown;
  }
}

/** Waits for an operation of the platform. @throws Broken with any error that the platform throws */
export async function fromPlatform<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new Broken(error);
  }
}

type Chunk = Uint8Array<ArrayBuffer>;

interface Reader {
  next(): Promise<{ readonly done?: boolean; readonly value?: Chunk }>;
}

/**
 * Ways to read a response body: `getReader` of the Fetch standard, or the async iterator of a Node stream as
 * in node-fetch. React Native has neither.
 */
interface Stream {
  getReader?(): { read: Reader['next'] };
  [Symbol.asyncIterator]?(): Reader;
}

/** Returns a reader of a body's chunks, or `null` if `fetch` provides no stream. @throws Unreadable */
function readerOf({ body, bodyUsed }: FetchResponse): Reader | null {
  if (bodyUsed) throw new Unreadable('The body was read before: let your fetch read response.clone()');
  const stream = body as Stream | null | undefined;
  const reader = stream?.getReader?.();
  if (reader !== undefined) return { next: () => reader.read() };
  return stream?.[Symbol.asyncIterator]?.() ?? null;
}

/**
 * Reads a whole response body at once, for platforms without streams. Before the read, only the header
 * `Content-Length` announces the size.
 * @throws Unreadable, Broken
 */
async function wholeText(response: FetchResponse): Promise<string> {
  requireSize(Number(response.headers.get('content-length') ?? 0));
  const text = await fromPlatform(() => response.text());
  requireSize(text.length);
  return text;
}

function requireSize(size: number): void {
  if (size > most) throw new Unreadable('The response is too long');
}

/**
 * Returns a function that reads the next chunk of a response body, and returns `undefined` at the end. The
 * function throws `Broken`, and `Unreadable` if a platform without streams has read too long a body.
 * @throws Unreadable
 */
export function chunksOf(response: FetchResponse): () => Promise<Chunk | undefined> {
  const reader = readerOf(response);
  if (reader !== null) return async () => (await fromPlatform(() => reader.next())).value;
  let read = false;
  return async () => {
    if (read) return undefined;
    read = true;
    return new TextEncoder().encode(await wholeText(response));
  };
}

let decoder: TextDecoder | undefined;

/**
 * Reads a body as text, up to 64 MiB.
 * @throws Unreadable, Broken
 */
export async function textOf(response: FetchResponse): Promise<string> {
  if (response.body === null) return '';
  const reader = readerOf(response);
  if (reader === null) return wholeText(response);
  const parts: Chunk[] = [];
  for (let size = 0; ; ) {
    const { value } = await fromPlatform(() => reader.next());
    if (value === undefined) break;
    size += value.length;
    requireSize(size);
    parts.push(value);
  }
  // Created on first use, since React Native has none, and kept: most bodies are one chunk, and a new decoder
  // for each would double the time of a call.
  decoder ??= new TextDecoder();
  return parts.length > 1 ? new Blob(parts).text() : decoder.decode(parts[0]);
}

/** Parses a text as a JSON object; `null` for any other text. */
export function objectOf(text: string): { readonly [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
