import { z } from 'zod';
import type { Core } from '../options/context.ts';
import type { AnyScope } from '../scopes/catalog.ts';
import { digest } from '../secrets/tokens.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { rejectionReason, type TokenRejection } from './access-token.ts';
import { proofChecks } from './dpop-binding.ts';
import { type PresentedRequest, proofProblem } from './dpop-resource.ts';

/** User, client and scopes of a valid access token. */
export interface ActiveToken {
  readonly active: true;
  /** Id of the user to whom the token belongs. */
  readonly sub: string;
  /** Id of the client to which the token was issued. */
  readonly clientId: string;
  /** Scopes of the token, which the user approved. */
  readonly scopes: readonly string[];
  /** URIs of the resources for which the token was issued (option `resources`); missing if there are none. */
  readonly resources?: readonly string[];
  readonly expiresAt: Date;
  /** Authentication context class of the sign-in, if `login.authenticate` returned one. */
  readonly acr?: string;
  /** Time of the user's sign-in, to the second; present only together with `acr`. */
  readonly authenticatedAt?: Date;
  /** Thumbprint of the key to which the access token is bound (RFC 9449); missing if it is not bound. */
  readonly dpopJkt?: string;
}

/**
 * Reason why an access token is refused. `malformed`: it does not have the format of this service's access
 * tokens. `unknown`: it was never issued, or expired more than 24 hours ago. `wrong_audience`: it is valid
 * but was issued for other resources than the required one, or for none, or for a resource although none is
 * required. `insufficient_scope`: it is valid but lacks a required scope. `invalid_dpop_proof`: it is bound
 * to a key, and the request has no right proof of that key; or it is bound to no key and came with the scheme
 * `DPoP`.
 */
export interface RefusedToken {
  readonly active: false;
  readonly reason:
    | TokenRejection
    | 'malformed'
    | 'wrong_audience'
    | 'insufficient_scope'
    | 'invalid_dpop_proof';
}

/** Requirements that an access token must meet. */
export interface TokenRequirement<Name extends string = AnyScope> {
  /** Scopes of which the token must have all. @defaultValue none */
  readonly scopes?: readonly Name[];
  /** URI of your API, which must be in the option `resources`. @defaultValue none: tokens that were issued for a resource are refused */
  readonly resource?: string;
  /**
   * Request that presents the token, needed for tokens that are bound to a key (option `dpop`).
   * @defaultValue none: tokens that are bound to a key are refused
   */
  readonly request?: PresentedRequest;
  /**
   * Origin of your API as clients call it, such as `https://api.example.com`.
   * @defaultValue the origin of `resource` if it is an http or https URL, otherwise of `baseUrl`
   */
  readonly origin?: string;
}

/** Checks access tokens for an API of the host application. */
export interface TokenChecks<Name extends string = AnyScope> {
  /**
   * Checks whether an access token is valid and has the scopes that your API requires. Returns the user and
   * client, or the reason for refusing it; an invalid token never throws. A token that was revoked in any
   * process is refused at once. Makes one query to the storage, for a token that is bound to a key also one
   * write, and does not call your `users.find`.
   *
   * @param token - token as it was sent, without `Bearer` or `DPoP`
   * @param requirement - scopes and resource that the token must have, and the request that presents a bound token
   * @throws TypeError if `scopes` or `resource` names an unknown one, or the requirement has another member, which would check
   * nothing
   * @throws Error with `code: 'STORAGE_UNAVAILABLE'` while the storage cannot be reached: respond with 503
   *
   * @example
   * ```ts
   * const [, token = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
   * const check = await ostiary.tokens.verify(token, { scopes: ['wallet:balance'] });
   * if (!check.active) return refuse(check.reason);
   * const wallet = await walletOf(check.sub);
   * ```
   */
  verify(token: string, requirement?: TokenRequirement<Name>): Promise<ActiveToken | RefusedToken>;
}

const isRequest = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'headers' in value && typeof value.headers === 'object';

const requirementSchema = z.strictObject({
  scopes: z.array(z.string()).optional(),
  resource: z.string().optional(),
  request: z.custom<PresentedRequest>(isRequest, 'must be a request with headers').optional(),
  origin: z
    .string()
    .refine((text) => URL.parse(text)?.origin === text, 'must be an origin such as https://api.example.com')
    .optional(),
});

/** Returns the origin of a resource whose URI is an http(s) URL; `null` for any other URI. */
function webOrigin(resource: string | null): string | null {
  const url = resource === null ? null : URL.parse(resource);
  return url !== null && /^https?:$/.test(url.protocol) ? url.origin : null;
}

/**
 * Validates the requirement that a caller passes to `tokens.verify`, and fills in defaults.
 * @throws TypeError for an unknown member, because a misspelt one would check nothing, and for an unknown scope or resource
 */
function requirementOf({ options }: Core, given: unknown) {
  const { success, data, error } = requirementSchema.safeParse(given, inPlainWords);
  if (!success) throw new TypeError(inOneLine(problemsOf(error.issues), 'requirement'));
  const { scopes = [], resource, request = null } = data;
  const unknownScope = scopes.find((scope) => !options.scopes.has(scope));
  if (unknownScope !== undefined) throw new TypeError(`scopes: there is no scope ${unknownScope}`);
  const uri = resource === undefined ? undefined : options.resources?.find(resource);
  if (resource !== undefined && uri == null)
    throw new TypeError(`resource: the option resources has no ${resource}`);
  const origin = data.origin ?? webOrigin(uri ?? null) ?? options.baseUrl.origin;
  return { scopes, resource: uri ?? null, request, origin };
}

/**
 * Checks whether a token's resources include the required resource. If `required` is `null`, checks that the
 * token has no resources.
 */
function isAudience(required: string | null, resources: readonly string[] | null): boolean {
  if (required === null || resources === null) return required === resources;
  return resources.includes(required);
}

export function tokenChecks(core: Core): TokenChecks {
  const { storage, clock, tokens } = core;
  const proofs = proofChecks(core);
  const refused = (reason: RefusedToken['reason']): RefusedToken => ({ active: false, reason });

  return {
    async verify(token, requirement = {}) {
      const required = requirementOf(core, requirement);
      if (typeof token !== 'string' || !tokens.isAccessToken(token)) return refused('malformed');
      const found = await storage.grants.findToken(digest(token));
      const dead = rejectionReason(found, clock.now());
      if (found === null || dead !== null) return refused(dead ?? 'unknown');
      const { sub, clientId, scopes, resources, expiresAt, acr, authenticatedAt, dpopJkt } = found;
      if (!isAudience(required.resource, resources)) return refused('wrong_audience');
      if (!required.scopes.every((scope) => scopes.includes(scope))) return refused('insufficient_scope');
      if ((await proofProblem(proofs, found, token, required.request, required.origin)) !== null)
        return refused('invalid_dpop_proof');
      const audience = resources === null ? {} : { resources };
      const signIn = acr === null ? {} : { acr, authenticatedAt: new Date(authenticatedAt) };
      return {
        active: true,
        ...{ sub, clientId, scopes },
        ...audience,
        expiresAt: new Date(expiresAt),
        ...signIn,
        ...(dpopJkt !== null && { dpopJkt }),
      };
    },
  };
}
