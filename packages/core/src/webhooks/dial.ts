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
/** How long one address may be silent before the next is tried, in milliseconds (RFC 8305, section 5). */
const headStartMs = 300;

const ignore = (): void => undefined;

/** Connects to the first of some addresses that answers. No name is resolved here. */
function connectFirst(
  host: string,
  port: number,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  const candidates = addresses.slice(0, maxAddresses).map((address) => ({ address, family: isIP(address) }));
  const socket = connect({
    ...{ host, port, signal, noDelay: true, keepAlive: true },
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: headStartMs,
    // Not called for an address, which is its own only candidate.
    lookup: (_host, _options, found) => found(null, candidates),
  });
  return new Promise((resolve, reject) => {
    // An error after the connection is made has nobody to tell here.
    socket.on('error', reject).once('connect', () => resolve(socket));
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
  options.signal.throwIfAborted();
  const socket = await connectFirst(hostOf(url), port, addresses, options.signal);
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
