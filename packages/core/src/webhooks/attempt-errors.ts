import { errors } from 'undici';
import { TlsError } from './dial.ts';
import { TargetError } from './targets.ts';

/** Reason of a failed attempt, as a partner sees it. */
export type AttemptErrorClass =
  // The URL is not allowed, or its host does not resolve to public addresses only; nothing was connected.
  | 'target_refused'
  // No complete response headers within the deadline.
  | 'timeout'
  // The port is closed.
  | 'connection_refused'
  // There is no way to the address.
  | 'connection_failed'
  // The connection was closed before the response headers were complete.
  | 'connection_reset'
  // The certificate does not prove the host's name, or is not trusted, or not valid now.
  | 'certificate'
  // Any other failure of TLS.
  | 'tls'
  // The response is no HTTP/1.1, its headers are too large, or it switches protocols.
  | 'protocol'
  // A 3xx status; redirects are not followed.
  | 'redirect'
  // Any other status that is not 2xx.
  | 'status'
  // This side gave the attempt up. It is unknown what the endpoint received.
  | 'aborted'
  // A defect or a shortage on this side.
  | 'internal';

/** Codes of the operating system and of undici. */
const classes: Readonly<Record<string, AttemptErrorClass>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  EPIPE: 'connection_reset',
  UND_ERR_SOCKET: 'connection_reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'connection_failed',
  EHOSTDOWN: 'connection_failed',
  ENETUNREACH: 'connection_failed',
  ENETDOWN: 'connection_failed',
  EADDRNOTAVAIL: 'connection_failed',
  EACCES: 'connection_failed',
  EPERM: 'connection_failed',
  EPROTO: 'tls',
  ABORT_ERR: 'aborted',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
};

/** Error of undici, with the code of a closed socket, for responses that it does not accept. */
const refusedAnswers = new Set(['bad response', 'bad upgrade']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The class of an error that ended an exchange before its response headers were complete. */
export function errorClassOf(error: unknown): AttemptErrorClass {
  if (error instanceof TargetError) return 'target_refused';
  const isHandshake = error instanceof TlsError;
  const code = codeOf(isHandshake ? error.cause : error);
  if (isHandshake) {
    // Errors of certificates have OpenSSL's names, all others the code of a family.
    return code === '' || /^(?:E[A-Z]+$|ERR_SSL_|UND_)/.test(code) ? 'tls' : 'certificate';
  }
  if (code === 'UND_ERR_SOCKET' && error instanceof Error && refusedAnswers.has(error.message))
    return 'protocol';
  if (error instanceof errors.HTTPParserError) return 'protocol';
  if (code.startsWith('ERR_SSL_')) return 'tls';
  return classes[code] ?? 'internal';
}
