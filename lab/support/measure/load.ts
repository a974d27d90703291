import { connect } from 'node:net';
import { median } from './statistics.ts';

/**
 * Number of client connections, each with one request at a time: so many that a server never waits for the
 * client, even while some requests wait for the disk.
 */
const many = 64;

/** Bytes of a request as they are sent over the network. */
export type RawRequest = string;

/** Requests to make, and the expected content of every response. */
export interface Load {
  readonly port: number;
  readonly requests: readonly RawRequest[];
  /** Number of requests to make; a shorter list of requests is repeated. @defaultValue each request once */
  readonly count?: number;
  /** Text that the body of every response contains. */
  readonly expected: string;
  /** @defaultValue 64 */
  readonly connections?: number;
}

/** Builds a GET, or a POST with a form or JSON as body. */
export function rawRequest(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>>,
  content?: URLSearchParams | object,
): RawRequest {
  const isForm = content instanceof URLSearchParams;
  const body = isForm ? content.toString() : content === undefined ? '' : JSON.stringify(content);
  const all = {
    host: `127.0.0.1:${port}`,
    accept: 'application/json',
    ...(content && {
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${content ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/**
 * Returns the body of the single HTTP response in a text, or `null` while the response is incomplete. @throws
 * Error unless the status is 200 or 201
 */
function bodyOf(received: string): string | null {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return null;
  if (!/^HTTP\/1\.1 20[01] /.test(received)) throw new Error(`the server answered ${received}`);
  const length = /\r\ncontent-length: *(\d+)/i.exec(received)?.[1];
  const body = received.slice(end + 4);
  if (length !== undefined) return body.length < Number(length) ? null : body;
  if (!/\r\ntransfer-encoding: *chunked/i.test(received)) throw new Error(`no length: ${received}`);
  if (!body.endsWith('0\r\n\r\n')) return null;
  // Every other line is the size of a chunk: JSON has no unescaped line breaks.
  return body
    .split('\r\n')
    .filter((_, index) => index % 2 === 1)
    .join('');
}

/** Sends requests over one connection until no request is left. */
function drive(
  port: number,
  next: () => RawRequest | undefined,
  onBody: (body: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = '';
    let done = false;
    const proceed = () => {
      const request = next();
      if (request !== undefined) return void socket.write(request, 'latin1');
      done = true;
      socket.destroy();
      resolve();
    };
    socket.setEncoding('latin1');
    socket.on('connect', proceed);
    socket.on('data', (chunk: string) => {
      received = received === '' ? chunk : received + chunk;
      try {
        const body = bodyOf(received);
        if (body === null) return;
        received = '';
        onBody(body);
        proceed();
      } catch (error) {
        socket.destroy(error instanceof Error ? error : undefined);
      }
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (!done) reject(new Error('the server closed the connection'));
    });
  });
}

/**
 * Sends requests and returns the number of responses per second. The function has a simple HTTP client of its
 * own, which must be faster than a raw `node:http` server: the client writes prepared bytes and only searches
 * for the end of each response. A response other than a 200 or 201 with the expected content ends the
 * benchmark.
 * @param onBody - called with the body of every response
 */
export async function measureRate(load: Load, onBody: (body: string) => void = () => {}): Promise<number> {
  const { port, requests, count = requests.length, expected, connections = many } = load;
  let made = 0;
  const next = () => {
    if (made === count) return undefined;
    made += 1;
    return requests[(made - 1) % requests.length];
  };
  const check = (body: string) => {
    if (!body.includes(expected)) throw new Error(`the body has no ${expected}: ${body}`);
    onBody(body);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, () => drive(port, next, check)));
  return (count * 1000) / (performance.now() - started);
}

/**
 * Measures the time of a single request in microseconds: the median of requests that are made one after the
 * other over one connection.
 */
export async function measureAlone(load: Load): Promise<number> {
  const times: number[] = [];
  let last = performance.now();
  await measureRate({ ...load, connections: 1 }, () => {
    const now = performance.now();
    times.push((now - last) * 1000);
    last = now;
  });
  return median(times);
}
