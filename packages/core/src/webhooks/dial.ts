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
  /** Certificates and versions; asked for when the target is https. */
  readonly secureContext: () => SecureContext;
  readonly signal: AbortSignal;
}

/** The target was reached and speaks no TLS, or shows a certificate that does not prove its name. */
export class TlsError extends Error {
  override readonly name = 'TlsError';
}

/** Number of addresses of a host that are tried. */
const maxAddresses = 8;
/** Time after which the next address is tried when one is silent, in milliseconds. The last one may be silent for longer. */
const attemptMs = 1_000;

const ignore = (): void => undefined;

/** Picks the addresses that are tried, of both families in turn (RFC 8305, section 4), so that a dead family leaves room for the other one. */
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

/** Connects to the first of some addresses that answers. No name is resolved here. */
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
  // Ignore later errors.
  socket.on('error', ignore);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : error;
  }
}

/** Speaks TLS on a connected socket, with the host's name although its address was dialled. */
async function secured(
  socket: Socket,
  host: string,
  { signal, secureContext }: DialOptions,
): Promise<TLSSocket> {
  const secure = upgrade({
    socket,
    // The certificate is compared with `host`; an address has no place in SNI (RFC 6066, section 3).
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
 * Connects to one of a target's addresses, all of which were checked, and checks once more who is at the other
 * end before a single byte is sent.
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
 * Connects to the host of a URL that somebody else chose, as deliveries do: to none of this network, unless the policy allows it.
 * @throws TargetError for a URL or a host that is not allowed
 * @throws TlsError when the certificate does not prove the name
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

/** Error of a socket whose other end is gone already. */
function resetError(): Error {
  return Object.assign(new Error('The connection was closed at once'), { code: 'ECONNRESET' });
}
