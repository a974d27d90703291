import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import { formDecoded } from '../http/parameters.ts';
import { hasKeys, isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { Options } from '../options/parse.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { digest, equalDigests } from '../secrets/tokens.ts';
import { findClient, isEnabled } from './client.ts';
import type { ClientAssertions } from './client-assertion.ts';
import { allowOriginOf } from './cors.ts';
import { type FailureLimit, importedSecrets } from './imported-secrets.ts';
import { addressCounts } from './limits.ts';

/** Unchecked credentials that a client sent. */
export interface Credentials {
  readonly clientId: string;
  /** Client secret; `null` if none was sent. An empty secret counts as none. */
  readonly secret: string | null;
  /** A JWT that the client signed (RFC 7523); `null` when none was sent. */
  readonly assertion: string | null;
  /**
   * True if the client sent its credentials in the Authorization header, so that the error response can match
   * (RFC 6749, section 5.2).
   */
  readonly basic: boolean;
}

/**
 * Names of the parameters with which a client authenticates. Those for assertions are read only with the
 * option `privateKeyJwt`.
 */
export const credentialParameters = ({ privateKeyJwt }: Options): readonly string[] => [
  ...['client_id', 'client_secret'],
  ...(privateKeyJwt ? ['client_assertion_type', 'client_assertion'] : []),
];

/** Checks whether a client sent more than its client id: a secret or an assertion. */
export const hasCredential = ({ secret, assertion }: Credentials): boolean =>
  secret !== null || assertion !== null;

const challenge = { 'WWW-Authenticate': 'Basic realm="token", charset="UTF-8"' };

/**
 * Checks whether an Authorization header contains client credentials. Ignores a header with another scheme,
 * such as an access token that an HTTP client sends with every request, or a header that a proxy added. Also
 * ignores a Basic header whose name and password are both empty, which libraries write if the values are not
 * set.
 */
function isClientAuthentication(authorization: string): boolean {
  const [scheme = '', encoded = ''] = authorization.split(/ +/);
  return scheme.toLowerCase() === 'basic' && Buffer.from(encoded, 'base64').toString('latin1') !== ':';
}

/**
 * Parses the header `Authorization: Basic`, whose two parts are also form-encoded (RFC 6749, section 2.3.1).
 * `null` for a malformed header.
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
 * Reads client credentials from the Authorization header or the body; `null` for a malformed header.
 * @param assertions - reads client assertions; `null` if clients cannot authenticate with keys
 * @throws OAuthError `invalid_request` if there are none, there are two, or they disagree
 */
function sentCredentials(
  authorization: string | undefined,
  parameters: ReadonlyMap<string, string>,
  assertions: ClientAssertions | null,
): Credentials | null {
  const bodyId = parameters.get('client_id') || null;
  const bodySecret = parameters.get('client_secret') || null;
  const asserted = assertions?.read(parameters) ?? null;
  if (asserted !== null) {
    // One method for each request (RFC 6749, section 2.3).
    if (bodySecret !== null || (authorization !== undefined && isClientAuthentication(authorization)))
      throw new OAuthError('invalid_request', 'The client authenticates twice; send the assertion alone.');
    const { clientId, assertion } = asserted;
    return { clientId: bodyId ?? clientId, secret: null, assertion, basic: false };
  }
  if (authorization === undefined || (bodyId !== null && !isClientAuthentication(authorization))) {
    if (bodyId === null) throw new OAuthError('invalid_request', 'The parameter client_id is missing.');
    return { clientId: bodyId, secret: bodySecret, assertion: null, basic: false };
  }
  const sent = basicCredentials(authorization);
  if (sent === null) return null;
  if (bodySecret !== null)
    throw new OAuthError('invalid_request', 'The client secret is sent twice; use the header or the body.');
  if (bodyId !== null && bodyId !== sent.clientId)
    throw new OAuthError('invalid_request', 'The header and the body name different clients.');
  return { clientId: sent.clientId, secret: sent.secret || null, assertion: null, basic: true };
}

/** Explains a wrong client secret for the log: secrets read from a file often end with a line break. */
function wrongSecretReason({ secrets }: ClientRecord, secret: string): string {
  const trimmed = digest(secret.trim());
  const isTrimmedRight = secrets.some((stored) => !stored.imported && equalDigests(stored.digest, trimmed));
  const wrong = 'the client_secret is wrong';
  return isTrimmedRight ? `${wrong}: it would be right without the white space around it` : wrong;
}

/** Creates the limit of failed client authentications per client address. */
function failureLimit(core: Core): FailureLimit {
  const counts = addressCounts(core);
  const limit = core.options.limits.failedClientAuthentications;
  const { requests, consume } = addressLimit(counts, { name: 'client authentication', limit });
  return {
    consume,
    async requireRoom(address, now) {
      const states = await counts.peek(requests(address, now));
      requireAllowed(states, now, 'Client authentication failed too often from this address.');
    },
  };
}

/**
 * Creates the client authentication of the OAuth endpoints. It counts failures per client address and refuses
 * an address that fails too often. Endpoints that use the same instance share the counts.
 * @param assertions - checks client assertions; `null` if clients cannot authenticate with keys
 */
export function clientAuthentication(core: Core, assertions: ClientAssertions | null) {
  const { options, clock } = core;
  const failures = failureLimit(core);
  const imported = importedSecrets(core, failures);

  /**
   * Logs and counts a failed client authentication. Returns an error, which is the same for an unknown client
   * and for a wrong secret.
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
   * Checks the secret that a client sent. If the client sent none, and has neither keys nor `requireSecret`,
   * the endpoint decides later whether the request needs a secret.
   */
  async function checkSecret(ctx: Context, client: ClientRecord, credentials: Credentials): Promise<void> {
    const refused = (reason: string, description?: string) =>
      failure(ctx, credentials, client.clientId, reason, description);
    const { secret } = credentials;
    if (hasKeys(client))
      throw await refused(
        'no client_assertion was sent, and the client has keys and no secret',
        'This client has to authenticate with private_key_jwt.',
      );
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

  /**
   * Checks the assertion that a client sent, and marks its `jti` as used. If the client sent no assertion,
   * checks its secret.
   */
  async function checkAssertion(ctx: Context, client: ClientRecord, credentials: Credentials): Promise<void> {
    const { assertion } = credentials;
    if (assertion === null || assertions === null) return checkSecret(ctx, client, credentials);
    const problem = await assertions.problemOf(client, assertion);
    if (problem === null) return;
    throw await failure(ctx, credentials, client.clientId, `the client_assertion was refused: ${problem}`);
  }

  return {
    /**
     * Refuses a request from an address whose client authentications have failed too often. @throws
     * OAuthError `slow_down`
     */
    requireAllowed: (ctx: Context): Promise<void> =>
      failures.requireRoom(core.clientAddress(ctx.req), clock.now()),

    /**
     * Reads client credentials from the Authorization header or the body.
     * @throws OAuthError `invalid_request` if there are none, there are two, or they disagree;
     * `invalid_client` for a malformed header
     */
    async readCredentials(ctx: Context, parameters: ReadonlyMap<string, string>): Promise<Credentials> {
      const sent = sentCredentials(ctx.req.headers.authorization, parameters, assertions);
      if (sent !== null) return sent;
      const reason = 'the Authorization header is malformed';
      throw await failure(ctx, { basic: true }, null, reason, 'The Authorization header is malformed.');
    },

    /**
     * Authenticates the client of a request. From then on, CORS headers allow only pages of this client's
     * origins to read the response.
     * @throws OAuthError `invalid_client` for an unknown or disabled client, for a wrong secret or assertion,
     * and without one that the client's settings require
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
      await checkAssertion(ctx, client, credentials);
      return client;
    },

    failure,
  };
}

export type ClientAuthentication = ReturnType<typeof clientAuthentication>;
