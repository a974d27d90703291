import { errors } from 'undici';
import { TlsError } from './dial.ts';
import { TargetError } from './targets.ts';

/** Reason for a failed attempt, as partners see it. */
export type AttemptErrorClass =
  // The URL is not allowed, or its host has an IP address that is not public, or none that was found in time;
  // no request was sent.
  | 'target_refused'
  // No complete response headers within the deadline.
  | 'timeout'
  // The port is closed, or no program takes the requests of an `inbox:listen` endpoint.
  | 'connection_refused'
  // The address could not be reached.
  | 'connection_failed'
  // The connection was closed before the response headers were complete, or a request of an `inbox:listen`
  // endpoint was removed before its response.
  | 'connection_reset'
  // The certificate does not prove the host's name, or is not trusted, or not valid now.
  | 'certificate'
  // Any other failure of TLS.
  | 'tls'
  // The response is not valid HTTP/1, its headers are too large, or it switches protocols.
  | 'protocol'
  // A 3xx status; redirects are not followed.
  | 'redirect'
  // Any other status that is not 2xx.
  | 'status'
  // This service aborted the attempt. It is unknown what the endpoint received.
  | 'aborted'
  // A bug, or a lack of resources, of this service.
  | 'internal';

/** Reasons for a failed attempt, by error code of the operating system or undici. */
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

/**
 * Messages of undici errors for malformed responses. Their error code is that of a closed socket, so the
 * message is compared.
 */
const refusedAnswers = new Set(['bad response', 'bad upgrade']);

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Classifies an error that ended a request before its response was complete. */
export function errorClassOf(error: unknown): AttemptErrorClass {
  if (error instanceof TargetError) return 'target_refused';
  const isHandshake = error instanceof TlsError;
  const code = codeOf(isHandshake ? error.cause : error);
  if (isHandshake) {
    // Certificate errors have OpenSSL's names, or Node's for a wrong host name. All other TLS errors have no
    // code, or one of these families.
    return code === '' || /^(?:E[A-Z]+$|ERR_SSL_|UND_)/.test(code) ? 'tls' : 'certificate';
  }
  if (code === 'UND_ERR_SOCKET' && error instanceof Error && refusedAnswers.has(error.message))
    return 'protocol';
  if (error instanceof errors.HTTPParserError) return 'protocol';
  if (code.startsWith('ERR_SSL_')) return 'tls';
  return classes[code] ?? 'internal';
}
