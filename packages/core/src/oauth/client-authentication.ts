import { LRUCache } from 'lru-cache';
import { OAuthError } from '../errors.ts';
import { formDecoded } from '../http/body.ts';
import type { Logger } from '../logger.ts';
import type { ClientRecord, ClientStore } from '../ports/clients.ts';
import { isEnabled, isPublicClient, secretState } from './client.ts';

/** Why a client could not be authenticated: for the log, never for the caller. The message is the reason. */
export class AuthenticationFailure extends Error {
  override readonly name = 'AuthenticationFailure';
  /** `null` where no client is known by what was sent. */
  readonly clientId: string | null;

  constructor(clientId: string | null, reason: string) {
    super(reason);
    this.clientId = clientId;
  }
}

/** The same of a client is told once in this time, in milliseconds. */
const quietMs = 60_000;

/**
 * Tells of clients that could not be authenticated, once a minute per client and reason: a client with a wrong secret
 * tries again and again, and callers without one must not fill the log.
 */
export function authenticationLog(logger: Logger): (error: unknown, now: number) => void {
  const told = new LRUCache<string, number>({ max: 1_000 });
  return (error, now) => {
    if (!(error instanceof AuthenticationFailure)) return;
    const { clientId, message: reason } = error;
    const key = JSON.stringify([clientId, reason]);
    if (now - (told.get(key) ?? Number.NEGATIVE_INFINITY) < quietMs) return;
    told.set(key, now);
    logger.warn(
      { ...(clientId !== null && { client: clientId }), reason },
      'a client could not be authenticated; the same is told once a minute',
    );
  };
}

/** The credentials that a token request carries. */
export interface Credentials {
  readonly clientId: string;
  /** `null` when none was sent; an empty one counts as none. */
  readonly secret: string | null;
  /** Whether the Authorization header was used, so that a refusal answers in kind (RFC 6749, section 5.2). */
  readonly basic: boolean;
}

const challenge = { 'WWW-Authenticate': 'Basic realm="token", charset="UTF-8"' };

const idAlphabet = /^[A-Za-z0-9_-]{1,255}$/;

/** Reads `Authorization: Basic` (RFC 6749, section 2.3.1: both parts are form-encoded before). */
function basicCredentials(header: string): { clientId: string; secret: string } {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  try {
    if (colon < 0) throw new URIError();
    return { clientId: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
  } catch {
    throw new OAuthError('invalid_client', 'The Authorization header is malformed.', {
      headers: challenge,
      cause: new AuthenticationFailure(null, 'the Authorization header is malformed'),
    });
  }
}

/**
 * Takes the client's credentials from the Authorization header or from the body.
 * @throws OAuthError `invalid_request` when both carry a secret, or name different clients
 */
export function readCredentials(
  authorization: string | undefined,
  parameters: ReadonlyMap<string, string>,
): Credentials {
  const bodyId = parameters.get('client_id') || null;
  const bodySecret = parameters.get('client_secret') || null;
  if (authorization === undefined) {
    if (bodyId === null) throw new OAuthError('invalid_request', 'The parameter client_id is missing.');
    return { clientId: bodyId, secret: bodySecret, basic: false };
  }
  const { clientId, secret } = basicCredentials(authorization);
  if (bodySecret !== null) {
    throw new OAuthError('invalid_request', 'The client secret is sent twice; use the header or the body.');
  }
  if (bodyId !== null && bodyId !== clientId) {
    throw new OAuthError('invalid_request', 'The header and the body name different clients.');
  }
  return { clientId, secret: secret || null, basic: true };
}

/** The answer to a wrong client or secret: the same for both. What it was, the log is told. */
export function invalidClient(
  credentials: Pick<Credentials, 'basic'>,
  cause: AuthenticationFailure,
  description?: string,
): OAuthError {
  const headers = credentials.basic ? challenge : {};
  return new OAuthError('invalid_client', description, { headers, cause });
}

/** Finds the client that credentials name. @throws OAuthError `invalid_client` */
export async function findClient(clients: ClientStore, credentials: Credentials): Promise<ClientRecord> {
  const client = idAlphabet.test(credentials.clientId) ? await clients.find(credentials.clientId) : null;
  if (client === null) {
    // What was sent is not told: it may be a secret in the wrong place.
    throw invalidClient(
      credentials,
      new AuthenticationFailure(null, 'no client has the client_id that was sent'),
    );
  }
  const { clientId, partnerDisabled } = client;
  if (!isEnabled(client)) {
    const reason = partnerDisabled ? 'the partner of the client is disabled' : 'the client is disabled';
    throw invalidClient(credentials, new AuthenticationFailure(clientId, reason));
  }
  return client;
}

/**
 * Checks a secret that was sent; whether one is needed is decided with the code at hand.
 * @throws OAuthError `invalid_client`
 */
export function checkSecret(client: ClientRecord, credentials: Credentials, now: number): void {
  const refuse = (reason: string, description?: string): never => {
    throw invalidClient(credentials, new AuthenticationFailure(client.clientId, reason), description);
  };
  if (credentials.secret === null) {
    if (client.requireSecret) {
      refuse(
        'no client_secret was sent, which requireSecret asks for',
        'This client has to send its client_secret.',
      );
    }
    return;
  }
  if (isPublicClient(client)) refuse('a client_secret was sent, and the client has none: it is public');
  const state = secretState(client, credentials.secret, now);
  if (state === 'ended') refuse('the client_secret was replaced by another one, and has ended');
  if (state === 'wrong') refuse('the client_secret is wrong');
}
