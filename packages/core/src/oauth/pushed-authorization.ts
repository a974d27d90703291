import { addressLimit, limitWindowMs, requireAllowed } from '../http/address-limit.ts';
import { readKnownParameters } from '../http/parameters.ts';
import type { Handler } from '../http/route.ts';
import { isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import { knownParameters, normalizedQuery, redirectTarget } from './authorize-request.ts';
import { findRequestingClient } from './client.ts';
import { type ClientAuthentication, credentialParameters, hasCredential } from './client-authentication.ts';
import { allowOriginOf } from './cors.ts';
import { boundToProof, requestProof, requireFirstUse } from './dpop-binding.ts';
import { pushedRequestSeconds } from './lifetimes.ts';
import { addressCounts } from './limits.ts';
import type { PushedRequests } from './pushed-requests.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';
import { invalid } from './request-parameters.ts';

/** Creates the limits for pushed authorization requests per minute. */
function pushLimits(core: Core) {
  const { pushedRequests, pushedRequestsPerClient } = core.options.limits;
  const counts = addressCounts(core);
  const addresses = addressLimit(counts, { name: 'pushed requests', limit: pushedRequests });
  return {
    /** Counts a pushed request of a client address. @throws OAuthError `slow_down` if the limit is reached */
    async countAddress(address: string | null, now: number): Promise<void> {
      const state = await addresses.consume(address, now);
      requireAllowed([state], now, 'Too many authorization requests were pushed from this address.');
    },
    /** Counts a pushed request of a client. @throws OAuthError `slow_down` if the limit is reached */
    async countClient(clientId: string, now: number): Promise<void> {
      const bucket = `pushed requests:client:${clientId}`;
      const limit = pushedRequestsPerClient;
      const state = await counts.consume({ bucket, limit, windowMs: limitWindowMs, now });
      requireAllowed([state], now, 'This client pushed too many authorization requests.');
    },
  };
}

/**
 * Creates the handler of the pushed authorization request endpoint (RFC 9126). It authenticates clients as
 * the token endpoint does, and checks requests as the authorization endpoint does.
 */
export async function pushHandler(
  core: Core,
  authentication: ClientAuthentication,
  requests: PushedRequests,
): Promise<Handler> {
  const { options, clock } = core;
  const known = new Set<string>([...knownParameters, ...credentialParameters(options)]);
  if (options.resources === undefined) known.delete('resource');
  if (!options.dpop) known.delete('dpop_jkt');
  const readProof = await requestProof(core, 'par');
  const limits = pushLimits(core);

  return async (ctx) => {
    await allowOriginOf(core, ctx, null);
    const sent = await readKnownParameters(ctx.req, known);
    await authentication.requireAllowed(ctx);
    const credentials = await authentication.readCredentials(ctx, sent);
    await limits.countAddress(core.clientAddress(ctx.req), clock.now());
    // Reads the metadata document of the client, if the client is unknown or its document no longer fresh.
    if (core.clientDocuments !== null)
      await findRequestingClient(core, credentials.clientId, core.clientAddress(ctx.req));
    const client = await authentication.authenticate(ctx, credentials);
    if (!hasCredential(credentials) && !isPublicClient(client)) {
      const reason = 'a client with a secret or keys pushed a request without them';
      throw await authentication.failure(ctx, credentials, client.clientId, reason);
    }
    // Counted only for clients with credentials: otherwise anyone could name a public client and use up its
    // limit.
    if (hasCredential(credentials)) await limits.countClient(client.clientId, clock.now());

    if (sent.get('request_uri')) throw invalid('The parameter request_uri cannot be pushed.');
    const proof = await readProof(ctx);
    const parameters = new Map(
      knownParameters.flatMap((name) => {
        const value = name === 'client_id' ? client.clientId : sent.get(name);
        return value ? [[name, value] as const] : [];
      }),
    );
    // Errors here are those of the token endpoint (RFC 9126, section 2.3), and `redirect_uri_mismatch` is not
    // among the codes that clients of pushed requests know.
    const redirectUri = parameters.get('redirect_uri');
    if (redirectUri !== undefined && !isRegisteredRedirectUri(client, redirectUri))
      throw invalid('The redirect_uri is not registered for this client.');
    const target = redirectTarget(client, parameters, options.logger);
    const query = normalizedQuery(options, boundToProof(parameters, proof), target);
    if (proof !== null) await requireFirstUse(core, proof);
    ctx.status = 201;
    ctx.body = {
      request_uri: await requests.push(client.clientId, query),
      expires_in: pushedRequestSeconds,
    };
  };
}
