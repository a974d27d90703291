import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import { formDecoded } from '../http/body.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { digest, equalDigests } from '../secrets/tokens.ts';
import { addressCounts } from './address-counts.ts';
import { findClient, isEnabled, isPublicClient } from './client.ts';
import { allowOriginOf } from './cors.ts';
import { importedSecrets } from './imported-secrets.ts';

/** Unchecked credentials that a client sent. */
export interface Credentials {
  readonly clientId: string;
  /** Client secret; `null` if none was sent. An empty secret counts as none. */
  readonly secret: string | null;
  /**
   * True if the client used the Authorization header, so that the error response can match (RFC 6749, section
   * 5.2).
   */
  readonly basic: boolean;
}

const challenge = { 'WWW-Authenticate': 'Basic realm="token", charset="UTF-8"' };

/**
 * Checks whether an Authorization header contains client credentials. Headers with another scheme are
 * ignored, such as an access token that an HTTP client sends with every request, or a header that a proxy
 * added. So is a Basic header without name and password, which libraries write for unset values.
 */
function isClientAuthentication(authorization: string): boolean {
  const [scheme = '', encoded = ''] = authorization.split(/ +/);
  return scheme.toLowerCase() === 'basic' && Buffer.from(encoded, 'base64').toString('latin1') !== ':';
}

/**
 * Parses `Authorization: Basic`, both parts of which are also form-encoded (RFC 6749, section 2.3.1). `null`
 * for a malformed header.
 */
function basicCredentials(header: string): { readonly clientId: string; readonly secret: string } | null {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(header)?.[1] ?? '';
  const [id = '', ...secret] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  if (secret.length === 0) return null;
  try {
    return { clientId: formDecoded(id), secret: formDecoded(secret.join(':')) };
  } catch {
    return null;
  }
}

/**
 * Reads client credentials from the Authorization header or the body; `null` for a malformed header. @throws
 * OAuthError `invalid_request` if there are none, or the two disagree
 */
function sentCredentials(
  authorization: string | undefined,
  parameters: ReadonlyMap<string, string>,
): Credentials | null {
  const bodyId = parameters.get('client_id') || null;
  const bodySecret = parameters.get('client_secret') || null;
  if (authorization === undefined || (bodyId !== null && !isClientAuthentication(authorization))) {
    if (bodyId === null) throw new OAuthError('invalid_request', 'The parameter client_id is missing.');
    return { clientId: bodyId, secret: bodySecret, basic: false };
  }
  const sent = basicCredentials(authorization);
  if (sent === null) return null;
  if (bodySecret !== null)
    throw new OAuthError('invalid_request', 'The client secret is sent twice; use the header or the body.');
  if (bodyId !== null && bodyId !== sent.clientId)
    throw new OAuthError('invalid_request', 'The header and the body name different clients.');
  return { clientId: sent.clientId, secret: sent.secret || null, basic: true };
}

/** Explains a wrong secret for the log: secrets read from a file often end with a line break. */
function wrongSecretReason({ secrets }: ClientRecord, secret: string): string {
  const trimmed = digest(secret.trim());
  const isTrimmedRight = secrets.some((stored) => !stored.imported && equalDigests(stored.digest, trimmed));
  const wrong = 'the client_secret is wrong';
  return isTrimmedRight ? `${wrong}: it would be right without the white space around it` : wrong;
}

/**
 * Creates the client authentication. It counts failures per client address and refuses an address that fails
 * too often. Endpoints that share one instance share its counts.
 */
export function clientAuthentication(core: Core) {
  const { options, clock } = core;
  const counts = addressCounts(core);
  const limit = options.limits.failedClientAuthentications;
  const failures = addressLimit(counts, { name: 'client authentication', limit });

  async function requireAddressAllowed(address: string | null): Promise<void> {
    const now = clock.now();
    const states = await counts.peek(failures.requests(address, now));
    requireAllowed(states, now, 'Client authentication failed too often from this address.');
  }
  const imported = importedSecrets(core, {
    requireRoom: requireAddressAllowed,
    consume: failures.consume,
  });

  /**
   * Logs and counts a failed authentication. Returns an error, which is the same for an unknown client and a
   * wrong secret.
   * @param clientId - client id in the credentials; `null` if they contain none
   * @param reason - reason of the failure, for the log only
   */
  async function failure(
    ctx: Context,
    { basic }: Pick<Credentials, 'basic'>,
    clientId: string | null,
    reason: string,
    description?: string,
  ): Promise<OAuthError> {
    const client = clientId === null ? {} : { client: clientId };
    options.logger.warn({ ...client, reason }, 'a client could not be authenticated');
    await failures.consume(core.clientAddress(ctx.req), clock.now());
    return new OAuthError('invalid_client', description, { headers: basic ? challenge : {} });
  }

  /**
   * Checks the secret that a client sent. If it sent none, the endpoint decides later whether this client
   * needs one.
   */
  async function checkSecret(ctx: Context, client: ClientRecord, credentials: Credentials): Promise<void> {
    const refused = (reason: string, description?: string) =>
      failure(ctx, credentials, client.clientId, reason, description);
    const { secret } = credentials;
    if (secret === null) {
      if (!client.requireSecret) return;
      const reason = 'no client_secret was sent, which requireSecret asks for';
      throw await refused(reason, 'This client has to send its client_secret.');
    }
    if (isPublicClient(client))
      throw await refused('a client_secret was sent, and the client has none: it is public');
    const presented = digest(secret);
    let equal = client.secrets.filter((stored) => !stored.imported && equalDigests(stored.digest, presented));
    if (equal.length === 0) {
      const address = core.clientAddress(ctx.req);
      for (const stored of client.secrets)
        if (stored.imported && (await imported({ client, stored, secret, address }))) equal = [stored];
    }
    if (equal.length === 0) throw await refused(wrongSecretReason(client, secret));
    const now = clock.now();
    if (!equal.some(({ expiresAt }) => expiresAt === null || expiresAt > now))
      throw await refused('the client_secret was replaced by another one, and has ended');
  }

  return {
    /** Refuses a request from an address that has failed too often. @throws OAuthError `slow_down` */
    requireAllowed: (ctx: Context): Promise<void> => requireAddressAllowed(core.clientAddress(ctx.req)),

    /**
     * Reads client credentials from the Authorization header or the body.
     * @throws OAuthError `invalid_request` if there are none or header and body disagree; `invalid_client` for a malformed header
     */
    async readCredentials(ctx: Context, parameters: ReadonlyMap<string, string>): Promise<Credentials> {
      const sent = sentCredentials(ctx.req.headers.authorization, parameters);
      if (sent !== null) return sent;
      const reason = 'the Authorization header is malformed';
      throw await failure(ctx, { basic: true }, null, reason, 'The Authorization header is malformed.');
    },

    /**
     * Authenticates the client of a request. From then on only pages of this client's origins may read the
     * response.
     * @throws OAuthError `invalid_client` for an unknown or disabled client and for a wrong secret
     */
    async authenticate(ctx: Context, credentials: Credentials): Promise<ClientRecord> {
      const { clientId } = credentials;
      const client = await findClient(core, clientId);
      // Keep the sent client id out of the log: it may be a secret in the wrong field.
      if (client === null)
        throw await failure(ctx, credentials, null, 'no client has the client_id that was sent');
      if (!isEnabled(client)) {
        const { partnerDisabled } = client;
        const reason = `the ${partnerDisabled ? 'partner of the client' : 'client'} is disabled`;
        throw await failure(ctx, credentials, clientId, reason);
      }
      await allowOriginOf(core, ctx, client);
      await checkSecret(ctx, client, credentials);
      return client;
    },

    failure,
  };
}

export type ClientAuthentication = ReturnType<typeof clientAuthentication>;
