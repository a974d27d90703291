import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, type TLSSocket, connect as upgrade } from 'node:tls';
import { unmapped } from '../text/ip-address.ts';
import { isPublicAddress } from './addresses.ts';
import {
  defaultResolve,
  hostOf,
  parseTarget,
  TargetError,
  type TargetPolicy,
  targetAddresses,
} from './targets.ts';

export interface DialOptions {
  /** Checks whether a connection to an address is allowed. */
  readonly isAllowed: (address: string) => boolean;
  /** Returns the trusted certificates and TLS versions. Called only for https targets. */
  readonly secureContext: () => SecureContext;
  readonly signal: AbortSignal;
}

/**
 * Thrown if a connected target does not complete the TLS handshake, or its certificate is not valid for its
 * name.
 */
export class TlsError extends Error {
  override readonly name = 'TlsError';
}

/** Maximum number of a webhook target's IP addresses to which a connection is tried. */
const maxAddresses = 8;
/**
 * Time without a connection after which the next IP address is tried, in milliseconds. The last address may
 * take longer.
 */
const attemptMs = 1_000;

const ignore = (): void => undefined;

/**
 * Chooses the IP addresses to try, alternating between IPv4 and IPv6 (RFC 8305, section 4), so that one
 * unreachable family does not use up all tries.
 */
function inTurn(addresses: readonly string[]): { readonly address: string; readonly family: number }[] {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [first] = found;
  const preferred = found.filter(({ family }) => family === first?.family);
  const others = found.filter(({ family }) => family !== first?.family);
  const pairs = Array.from({ length: maxAddresses }, (_, place) => [preferred[place], others[place]]);
  return pairs
    .flat()
    .filter((one) => one !== undefined)
    .slice(0, maxAddresses);
}

/** Connects to the first of the given IP addresses that accepts the connection. Does not resolve names. */
async function connectFirst(
  addresses: readonly string[],
  { host, port, signal }: { readonly host: string; readonly port: number; readonly signal: AbortSignal },
): Promise<Socket> {
  const found = inTurn(addresses);
  const socket = connect({
    host,
    port,
    lookup: (_host, _options, callback) => callback(null, found),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
    noDelay: true,
    keepAlive: true,
  });
  // A socket without an error listener would end the process; later errors do not matter.
  socket.on('error', ignore);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

/**
 * Starts TLS on a connected socket. Uses the host's name, although the connection was made to its IP address.
 */
async function secured(
  socket: Socket,
  host: string,
  { signal, secureContext }: DialOptions,
): Promise<TLSSocket> {
  const secure = upgrade({
    socket,
    // The certificate must match `host`. SNI allows no IP addresses (RFC 6066, section 3).
    host,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    secureContext: secureContext(),
  });
  secure.on('error', ignore);
  try {
    await once(secure, 'secureConnect', { signal });
    return secure;
  } catch (error) {
    secure.destroy();
    throw signal.aborted ? signal.reason : new TlsError('TLS failed', { cause: error });
  }
}

/**
 * Connects to one of a target's checked IP addresses, and checks the address of the connected server again
 * before the first byte is sent.
 */
export async function dial(
  url: URL,
  addresses: readonly string[],
  options: DialOptions,
): Promise<Socket | TLSSocket> {
  options.signal.throwIfAborted();
  const isSecure = url.protocol === 'https:';
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port);
  const host = hostOf(url);
  const socket = await connectFirst(addresses, { host, port, signal: options.signal });
  const peer = unmapped(socket.remoteAddress ?? '');
  if (peer === null || !options.isAllowed(peer)) {
    socket.destroy();
    throw peer === null ? resetError() : new TargetError('The connection reached another address.');
  }
  if (!isSecure) return socket;
  return secured(socket, host, options);
}

/**
 * Connects to the host of a URL that somebody else chose, with the checks of deliveries: private addresses
 * are refused unless the policy allows them.
 * @throws TargetError if the URL or the host is not allowed
 * @throws TlsError if TLS fails, or the certificate is not valid for the name
 */
export async function dialTarget(
  text: string,
  policy: TargetPolicy,
  signal: AbortSignal,
): Promise<Socket | TLSSocket> {
  const url = parseTarget(text, policy);
  const addresses = await targetAddresses(url, policy, defaultResolve(policy));
  const isAllowed = policy.allowPrivate ? () => true : isPublicAddress;
  return dial(url, addresses, { isAllowed, secureContext: () => createSecureContext(), signal });
}

/** Creates the error for a socket whose other end has already closed. */
function resetError(): Error {
  return Object.assign(new Error('The connection was closed at once'), { code: 'ECONNRESET' });
}
