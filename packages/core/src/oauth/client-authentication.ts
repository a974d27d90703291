import { OAuthError } from '../errors.ts';
import { formDecoded } from '../http/body.ts';
import type { ClientRecord, ClientSecretRecord, ClientState } from '../ports/clients.ts';
import { digest, equalDigests } from '../secrets/tokens.ts';
import { isEnabled, isPublicClient } from './client.ts';

export interface Credentials {
  readonly clientId: string;
  /** `null` when none was sent; an empty one counts as none. */
  readonly secret: string | null;
  /** Whether the Authorization header was used, so that a refusal answers in kind (RFC 6749, section 5.2). */
  readonly basic: boolean;
}

const challenge = { 'WWW-Authenticate': 'Basic realm="token", charset="UTF-8"' };

/**
 * The answer to a wrong client or secret: the same for both. What it was is the cause, in fields for the log.
 * @param clientId - `null` where no client is known by what was sent
 */
export function invalidClient(
  { basic }: Pick<Credentials, 'basic'>,
  clientId: string | null,
  reason: string,
  description?: string,
): OAuthError {
  const cause = { ...(clientId !== null && { client: clientId }), reason };
  return new OAuthError('invalid_client', description, { headers: basic ? challenge : {}, cause });
}

/** Reads `Authorization: Basic` (RFC 6749, section 2.3.1: both parts are form-encoded before). */
function basicCredentials(header: string): { clientId: string; secret: string } {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1] ?? '';
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  try {
    if (secret.length === 0) throw new URIError();
    return { clientId: formDecoded(id), secret: formDecoded(secret.join(':')) };
  } catch {
    const reason = 'the Authorization header is malformed';
    throw invalidClient({ basic: true }, null, reason, 'The Authorization header is malformed.');
  }
}

/**
 * Whether an Authorization header authenticates a client. Other schemes are not for this endpoint: an access token that an HTTP client
 * sends with every request, or what a proxy has added. Basic without a name and a password is what libraries make of unset values.
 */
function isClientAuthentication(authorization: string): boolean {
  const [scheme = '', encoded = ''] = authorization.split(/ +/);
  return scheme.toLowerCase() === 'basic' && Buffer.from(encoded, 'base64').toString('latin1') !== ':';
}

/** Reads credentials from the Authorization header or the body. @throws OAuthError `invalid_request` where they disagree */
export function readCredentials(
  authorization: string | undefined,
  parameters: ReadonlyMap<string, string>,
): Credentials {
  const bodyId = parameters.get('client_id') || null;
  const bodySecret = parameters.get('client_secret') || null;
  if (authorization === undefined || (bodyId !== null && !isClientAuthentication(authorization))) {
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

/** The client that credentials name, if it may be used. @throws OAuthError `invalid_client` */
export function requireEnabled(client: ClientState | null, credentials: Credentials): ClientRecord {
  // What was sent is not told: it may be a secret in the wrong place.
  if (client === null) throw invalidClient(credentials, null, 'no client has the client_id that was sent');
  const { clientId, partnerDisabled } = client;
  if (isEnabled(client)) return client;
  const disabled = partnerDisabled ? 'the partner of the client is disabled' : 'the client is disabled';
  throw invalidClient(credentials, clientId, disabled);
}

/** Reason for the log: secrets that were read from a file often have a line break at their end. */
function reasonOfWrongSecret({ secrets }: ClientRecord, secret: string): string {
  const trimmed = digest(secret.trim());
  const isTrimmedRight = secrets.some((stored) => !stored.imported && equalDigests(stored.digest, trimmed));
  const wrong = 'the client_secret is wrong';
  return isTrimmedRight ? `${wrong}: it would be right without the white space around it` : wrong;
}

/**
 * Checks the secret that a client sent. If none was sent, the code decides later whether the client needs one.
 * @param isImported - checks a secret against a hash that was imported
 * @throws OAuthError `invalid_client`
 */
export async function checkSecret(
  client: ClientRecord,
  credentials: Credentials,
  now: number,
  isImported: (stored: ClientSecretRecord, secret: string) => Promise<boolean>,
): Promise<void> {
  const refused = (reason: string, description?: string) =>
    invalidClient(credentials, client.clientId, reason, description);
  const { secret } = credentials;
  if (secret === null) {
    if (!client.requireSecret) return;
    const reason = 'no client_secret was sent, which requireSecret asks for';
    throw refused(reason, 'This client has to send its client_secret.');
  }
  if (isPublicClient(client))
    throw refused('a client_secret was sent, and the client has none: it is public');
  const presented = digest(secret);
  let equal = client.secrets.filter((stored) => !stored.imported && equalDigests(stored.digest, presented));
  if (equal.length === 0) {
    for (const stored of client.secrets)
      if (stored.imported && (await isImported(stored, secret))) equal = [stored];
  }
  if (equal.length === 0) throw refused(reasonOfWrongSecret(client, secret));
  if (!equal.some(({ expiresAt }) => expiresAt === null || expiresAt > now))
    throw refused('the client_secret was replaced by another one, and has ended');
}
