import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { clientAlgorithms } from '../keys/client-algorithms.ts';
import { type ProofChecks, proofProblem } from '../oauth/dpop-resource.ts';
import type { ActiveToken } from '../oauth/token-checks.ts';
import { logger, serverUrl, store } from '../options/option-values.ts';
import type { Clock } from '../ports/clock.ts';
import { comparableUri } from '../scopes/resource-uris.ts';
import { digestText } from '../secrets/tokens.ts';
import type { Logger } from '../telemetry/logger.ts';
import { stderrLogger } from '../telemetry/stderr-logger.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { goesOn, systemClock } from '../time/clock.ts';
import { withDeadlines } from '../time/deadline.ts';
import { type IntrospectedToken, introspect } from './introspection.ts';
import { createProtectedResource, type ProtectedResource } from './protected-resource.ts';
import type { RefusalReason } from './refusals.ts';
import type { ResourceRequest } from './requests.ts';
import { resourceUrl } from './resource-url.ts';
import { type UsedProofs, usedProofsInMemory } from './used-proofs.ts';

/** Maximum number of cached tokens, used if `cacheSeconds` is above 0. */
const maxRemembered = 10_000;

/**
 * Maximum number of ids of used DPoP proofs in memory, where each is kept for three minutes. Beyond it,
 * requests with a new valid proof get a 503.
 */
const maxProofs = 100_000;

/** Longest text that may be a token, in characters. Longer texts are refused without a check. */
const maxTokenLength = 4096;

/** An authorization server that runs in another process. */
export interface RemoteAuthorizationServer {
  /**
   * Issuer identifier of the authorization server, for the metadata document of the API. An introspection
   * response with another `iss` counts as a failed check.
   */
  readonly issuer: string;
  /** URL of the introspection endpoint, such as `https://api.example.com/v1/oauth/introspect`. */
  readonly introspectionEndpoint: string;
  /**
   * Client id of this resource server, which must be allowed to introspect tokens (`ostiary clients create
   * --resource-server`).
   */
  readonly clientId: string;
  readonly clientSecret: string;
  /**
   * Seconds for which a request waits for the introspection endpoint, and for a store of used DPoP proofs:
   * above 0, at most 60. After that the request gets a 503. @defaultValue 5
   */
  readonly timeoutSeconds?: number;
  /**
   * Seconds for which an active token is accepted without introspecting it again: 0 to 300. A revoked token is
   * accepted for up to this time.
   * @defaultValue 0: the token of every request is introspected
   */
  readonly cacheSeconds?: number;
}

/** Settings of a protected resource that runs in another process than its authorization server. */
export interface RemoteResourceSettings {
  /** URI of the resource, as in the authorization server's option `resources`: https, or http on loopback. */
  readonly resource: string;
  /** Name of the API, for its metadata document. */
  readonly name?: string;
  /**
   * Scopes that every request to the API needs. The metadata document and the header `WWW-Authenticate` list
   * them. @defaultValue none
   */
  readonly scopes?: readonly string[];
  readonly remote: RemoteAuthorizationServer;
  /**
   * Accepts tokens that are bound to a key, if the request has an unused DPoP proof (RFC 9449). With `true`
   * the ids of used proofs are in memory, so each process accepts a proof once. With more than one process,
   * pass a store that they share.
   * @defaultValue false: tokens that are bound to a key are refused
   */
  readonly dpop?: boolean | UsedProofs;
  /** Destination of log lines about failed checks. @defaultValue warnings and errors on stderr */
  readonly logger?: Logger;
  /**
   * Source of the current time, for the expiry of tokens and DPoP proofs. @defaultValue the machine's clock
   */
  readonly clock?: Clock;
  /** Function that sends requests. @defaultValue the global `fetch` */
  readonly fetch?: typeof fetch;
}

const scopeToken = z.string().regex(/^[\x21\x23-\x5B\x5D-\x7E]+$/, 'must be the name of a scope');

const settingsSchema = z.strictObject({
  resource: z.string(),
  name: z.string().trim().min(1).max(100).optional(),
  scopes: z.array(scopeToken).default([]),
  remote: z.strictObject({
    issuer: serverUrl,
    introspectionEndpoint: serverUrl,
    clientId: z.string().min(1),
    clientSecret: z.string().min(1),
    timeoutSeconds: z.number().positive().max(60).default(5),
    cacheSeconds: z.number().min(0).max(300).default(0),
  }),
  dpop: z.union([z.boolean(), store<UsedProofs>('use')]).default(false),
  logger: logger.default(stderrLogger),
  clock: store<Clock>('now').default(systemClock),
  fetch: z.custom<typeof fetch>((value) => typeof value === 'function', 'must be a function').optional(),
});

/**
 * Validates the settings of a protected resource and fills in defaults. @throws TypeError that names every
 * wrong setting by its path
 */
function checkedSettings(given: RemoteResourceSettings) {
  const { success, data, error } = settingsSchema.safeParse(given, inPlainWords);
  if (!success) throw new TypeError(`protectedResource: ${inOneLine(problemsOf(error.issues), 'settings')}`);
  return data;
}

/**
 * Returns the checks for the DPoP proofs of requests.
 * @param seconds - time for which a request waits for the store of the host
 */
function proofChecks(dpop: boolean | UsedProofs, clock: Clock, seconds: number): ProofChecks {
  const ids =
    typeof dpop === 'boolean'
      ? usedProofsInMemory(clock, maxProofs)
      : withDeadlines('dpop', dpop, ['use'], seconds);
  return {
    takesDpop: dpop !== false,
    clock,
    useProof: ({ idDigest, expiresAt }) =>
      ids.use(Buffer.from(idDigest).toString('base64url'), new Date(expiresAt)),
  };
}

type Verified = ActiveToken | { readonly active: false; readonly reason: RefusalReason };

/**
 * Creates a protected resource (RFC 9728) that runs in its own process. Each request's token is introspected
 * at the authorization server (RFC 7662), unless it was found active within `cacheSeconds`. If that server
 * cannot be reached, requests whose token must be introspected get a 503.
 *
 * @throws TypeError if a setting is invalid
 * @example
 * ```ts
 * const tools = protectedResource({
 *   resource: 'https://tools.example.com/mcp',
 *   scopes: ['tools:run'],
 *   remote: {
 *     issuer: 'https://id.example.com',
 *     introspectionEndpoint: 'https://api.example.com/v1/oauth/introspect',
 *     clientId: process.env.CLIENT_ID ?? '',
 *     clientSecret: process.env.CLIENT_SECRET ?? '',
 *   },
 * });
 * ```
 */
export function protectedResource(given: RemoteResourceSettings): ProtectedResource<string> {
  const { resource, name, scopes, remote, ...parts } = checkedSettings(given);
  const { clock } = parts;
  const proofs = proofChecks(parts.dpop, clock, remote.timeoutSeconds);
  const { href: uri, origin } = resourceUrl(resource);
  const { issuer } = given.remote;
  const server = {
    ...{ issuer, endpoint: remote.introspectionEndpoint, timeoutMs: remote.timeoutSeconds * 1000 },
    ...{ clientId: remote.clientId, clientSecret: remote.clientSecret, fetch: parts.fetch ?? fetch },
  };
  const remembered = new LRUCache<string, { readonly token: IntrospectedToken; readonly until: number }>({
    max: maxRemembered,
  });

  /**
   * Introspects a token, unless a cached result shows that it is active. @throws Error if the token cannot be
   * checked
   */
  async function find(text: string): Promise<IntrospectedToken | null> {
    if (remote.cacheSeconds === 0) return introspect(server, text);
    const key = digestText(text);
    const known = remembered.get(key);
    if (known !== undefined && goesOn(known.until, clock.now(), remote.cacheSeconds * 1000))
      return known.token;
    const token = await introspect(server, text);
    if (token === null) remembered.delete(key);
    else remembered.set(key, { token, until: clock.now() + remote.cacheSeconds * 1000 });
    return token;
  }

  /**
   * Checks an access token: length, introspection result, expiry, audience and DPoP proof. @throws Error if
   * the token or its proof cannot be checked
   */
  async function checked(text: string, request: ResourceRequest): Promise<Verified> {
    if (text === '' || text.length > maxTokenLength) return { active: false, reason: 'malformed' };
    const token = await find(text);
    if (token === null) return { active: false, reason: 'inactive' };
    if (token.expiresAt.getTime() <= clock.now()) return { active: false, reason: 'expired' };
    const isOurs = token.resources.some((audience) => comparableUri(audience) === uri);
    if (!isOurs) return { active: false, reason: 'wrong_audience' };
    const binding = { dpopJkt: token.dpopJkt ?? null };
    const problem = await proofProblem(proofs, binding, text, request, origin);
    return problem === null ? token : { active: false, reason: 'invalid_dpop_proof' };
  }

  async function verify(text: string, request: ResourceRequest): Promise<Verified> {
    try {
      return await checked(text, request);
    } catch (failure) {
      parts.logger.error({ err: failure, resource }, 'an access token could not be checked');
      return { active: false, reason: 'unavailable' };
    }
  }

  const metadata = {
    resource,
    authorization_servers: [issuer],
    ...(scopes.length > 0 && { scopes_supported: scopes }),
    bearer_methods_supported: ['header'],
    ...(proofs.takesDpop && { dpop_signing_alg_values_supported: clientAlgorithms }),
    ...(name !== undefined && { resource_name: name }),
  };
  return createProtectedResource(metadata, {
    scopes,
    takesDpop: proofs.takesDpop,
    // Only the authorization server knows which scopes exist.
    requireScopes(names) {
      const wrong = names.find((one) => !scopeToken.safeParse(one).success);
      if (wrong !== undefined) throw new TypeError(`scopes: ${wrong} is not the name of a scope`);
    },
    // A token for several resources may have scopes that belong to another one.
    scopesOfResource: ({ resources = [], scopes: granted }) =>
      resources.length > 1 ? [] : granted.filter((one) => !/^(openid|offline_access)$/.test(one)),
    verify,
  });
}
