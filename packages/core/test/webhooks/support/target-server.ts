import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { afterwards } from '../../support/running.ts';

/** A request as it arrived over the wire. */
interface RawRequest {
  /** Request line and headers of the request. */
  readonly head: string;
  readonly body: Buffer;
}

/** Responds to a request by writing bytes; the number counts the requests of this server from 1. */
export type RawAnswer = (socket: Socket, request: RawRequest, number: number) => void;

/** A server that implements only those parts of HTTP that a test needs. */
export interface RawServer {
  readonly port: number;
  /** All connections of the server, including those that have ended. */
  readonly sockets: readonly Socket[];
  readonly requests: readonly RawRequest[];
  /** Closes the server before the end of the test, which would otherwise close it. */
  close(): Promise<void>;
}

/** Takes the first complete request from the received bytes; `null` if there is none. */
function takeRequest(bytes: Buffer): { request: RawRequest; rest: Buffer } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const start = end + 4;
  if (bytes.length < start + length) return null;
  return {
    request: { head, body: bytes.subarray(start, start + length) },
    rest: bytes.subarray(start + length),
  };
}

/**
 * Starts a raw server, which is closed after the test; on the loopback addresses of both families by default.
 */
export async function serve(
  answer: RawAnswer,
  options: { readonly host?: string; readonly tls?: TlsOptions } = {},
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const requests: RawRequest[] = [];
  const listen = (socket: Socket): void => {
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let taken = takeRequest(bytes); taken !== null; taken = takeRequest(bytes)) {
        bytes = taken.rest;
        requests.push(taken.request);
        answer(socket, taken.request, requests.length);
      }
    });
  };
  const server: Server =
    options.tls === undefined ? createServer(listen) : createTlsServer(options.tls, listen);
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
  });
  server.listen(0, options.host ?? '::');
  await once(server, 'listening');
  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    server.close();
    if (server.listening) await once(server, 'close');
  }
  afterwards(close);
  return { port: (server.address() as AddressInfo).port, sockets, requests, close };
}

/** Formats a complete response with a content length. */
export function response(status: number, body = '', headers = ''): string {
  return `HTTP/1.1 ${status} Whatever\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Response of a receiver that accepts the webhook. */
export const accepts: RawAnswer = (socket) => socket.write(response(200));
