import type { FetchResponse } from '../options.ts';

/** The longest body of an answer that is accepted, in bytes. */
const most = 64 * 1024 * 1024;

/** Thrown for an answer with a good status that cannot be read. */
export class Unreadable extends Error {
  readonly code: string;

  constructor(message = 'No answer of this API', code = 'unexpected_answer') {
    super(message);
    this.code = code;
  }
}

/** Wraps what `fetch`, or a body that it gave, has thrown. Not part of the public surface. */
export class Broken {
  readonly thrown: unknown;

  constructor(thrown: unknown) {
    this.thrown = thrown;
  }
}

/** Waits for the platform. @throws Broken with any error that the platform throws */
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

/** Bodies of the Fetch standard have `getReader`, those of node-fetch are streams of Node, and React Native has none. */
interface Stream {
  getReader?(): { read: Reader['next'] };
  [Symbol.asyncIterator]?(): Reader;
}

/** Returns what reads a body part by part, or `null` where `fetch` gives no stream. @throws Unreadable */
function readerOf({ body, bodyUsed }: FetchResponse): Reader | null {
  if (bodyUsed) throw new Unreadable('The body was read before: let your fetch read response.clone()');
  const stream = body as Stream | null | undefined;
  const reader = stream?.getReader?.();
  if (reader !== undefined) return { next: () => reader.read() };
  return stream?.[Symbol.asyncIterator]?.() ?? null;
}

/** Reads a body at once. Its size is known before only by its header. @throws Unreadable, Broken */
async function wholeText(response: FetchResponse): Promise<string> {
  requireSize(Number(response.headers.get('content-length') ?? 0));
  const text = await fromPlatform(() => response.text());
  requireSize(text.length);
  return text;
}

function requireSize(size: number): void {
  if (size > most) throw new Unreadable('The answer is too long');
}

/**
 * Returns a function that gives the next bytes of a body, and `undefined` at its end. It throws `Broken`.
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
 * Reads a body as text, at most 64 MiB of it.
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
  // Nearly every answer is one part. A new decoder for each would double the time of a call. React Native has none.
  decoder ??= new TextDecoder();
  return parts.length > 1 ? new Blob(parts).text() : decoder.decode(parts[0]);
}

/** The object that a text is the JSON of, or `null`. */
export function objectOf(text: string): { readonly [name: string]: unknown } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
