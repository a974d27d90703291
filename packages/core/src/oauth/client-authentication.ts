import type { Context } from 'koa';
import { OAuthError } from '../errors.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import { hasKeys, isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { digest, equalDigests } from '../secrets/tokens.ts';
import { findClient, isEnabled } from './client.ts';
import type { ClientAssertions } from './client-assertion.ts';
import { allowOriginOf } from './cors.ts';
import { type Credentials, sentCredentials } from './credentials.ts';
import { type FailureLimit, importedSecrets } from './imported-secrets.ts';
import { addressCounts } from './limits.ts';

const challenge = { 'WWW-Authenticate': 'Basic realm="token", charset="UTF-8"' };

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
     * @throws OAuthError `invalid_request` if there are none or header and body disagree; `invalid_client` for a malformed header
     */
    async readCredentials(ctx: Context, parameters: ReadonlyMap<string, string>): Promise<Credentials> {
      const sent = sentCredentials(ctx.req.headers.authorization, parameters);
      if (sent !== null) return sent;
      const reason = 'the Authorization header is malformed';
      throw await failure(ctx, { basic: true }, null, reason, 'The Authorization header is malformed.');
    },

    /**
     * Authenticates the client of a request. From then on, CORS headers allow only pages of this client's
     * origins to read the response.
     * @throws OAuthError `invalid_client` for an unknown or disabled client, and for a wrong secret or
     * assertion
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
