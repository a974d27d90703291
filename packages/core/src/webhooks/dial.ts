import { connect, isIP, type Socket } from 'node:net';
import { type SecureContext, type TLSSocket, connect as upgrade } from 'node:tls';
import { peerAddress } from './addresses.ts';
import { hostOf, TargetError } from './targets.ts';

/** How a connection is made. */
export interface DialOptions {
  /** Whether an address may be at the other end. */
  readonly isAllowed: (address: string) => boolean;
  /** Certificates and versions; asked for when the target is https. */
  readonly secureContext: () => SecureContext;
  /** Gives up. */
  readonly signal: AbortSignal;
}

/** The target was reached and speaks no TLS, or shows a certificate that does not prove its name. */
export class TlsError extends Error {
  override readonly name = 'TlsError';
}

/** How many addresses of a host are tried. */
const maxAddresses = 4;
/** How long one address may be silent before the next is tried beside it, in milliseconds (RFC 8305, section 5). */
const headStartMs = 300;

const ignore = (): void => undefined;

/** Connects to the first of some addresses that answers. No name is resolved here. */
function connectFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const waiting = addresses.slice(0, maxAddresses);
    const open = new Set<Socket>();
    let timer: NodeJS.Timeout | undefined;

    const settle = (winner: Socket | null, error: unknown): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      for (const socket of open) if (socket !== winner) socket.destroy();
      if (winner === null) reject(error);
      else resolve(winner);
    };
    const abort = (): void => settle(null, signal.reason);
    const tryNext = (): void => {
      clearTimeout(timer);
      const host = waiting.shift();
      if (host === undefined) return;
      const socket = connect({ host, port, noDelay: true, keepAlive: true, autoSelectFamily: false });
      open.add(socket);
      const fail = (error: Error): void => {
        open.delete(socket);
        if (waiting.length > 0) tryNext();
        else if (open.size === 0) settle(null, error);
      };
      // An error after the race has nobody to tell.
      socket.on('error', ignore).once('error', fail);
      socket.once('connect', () => {
        socket.off('error', fail);
        settle(socket, null);
      });
      if (waiting.length > 0) timer = setTimeout(tryNext, headStartMs);
    };

    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort);
    tryNext();
  });
}

/** Speaks TLS on a connected socket, with the host's name although its address was dialled. */
function secured(socket: Socket, host: string, options: DialOptions): Promise<TLSSocket> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const secure = upgrade({
      socket,
      // The certificate is compared with `host`; an address has no place in SNI (RFC 6066, section 3).
      host,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      secureContext: options.secureContext(),
    });
    const abort = (): void => {
      secure.destroy();
      reject(signal.reason);
    };
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', abort);
      secure.destroy();
      reject(new TlsError('TLS failed', { cause: error }));
    };
    signal.addEventListener('abort', abort);
    secure.on('error', ignore).once('error', fail);
    secure.once('secureConnect', () => {
      signal.removeEventListener('abort', abort);
      secure.off('error', fail);
      resolve(secure);
    });
  });
}

/**
 * Connects to one of a target's addresses, all of which were checked, and checks once more who is at the other
 * end before a single byte is sent.
 */
export async function dial(
  url: URL,
  addresses: readonly string[],
  options: DialOptions,
): Promise<Socket | TLSSocket> {
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const socket = await connectFirst(addresses, port, options.signal);
  const peer = socket.remoteAddress;
  if (peer === undefined || !options.isAllowed(peerAddress(peer))) {
    socket.destroy();
    throw peer === undefined ? resetError() : new TargetError('The connection reached another address.');
  }
  if (!isSecure) return socket;
  if (options.signal.aborted) socket.destroy();
  options.signal.throwIfAborted();
  return secured(socket, hostOf(url), options);
}

/** What a socket says whose other end is gone already. */
function resetError(): Error {
  return Object.assign(new Error('The connection was closed at once'), { code: 'ECONNRESET' });
}
