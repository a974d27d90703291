/** An error code's HTTP status and public text, and the situation in which it occurs. */
export interface ErrorDefinition {
  /** HTTP status, unless the code that throws the error gives another one. */
  readonly status: number;
  /** Public description, unless the code that throws the error gives a better one. */
  readonly text: string;
  /** Situation in which the error occurs, for the page of errors in the documentation. */
  readonly when: string;
}

/**
 * Errors of the OAuth endpoints (RFC 6749, sections 4.1.2.1 and 5.2; RFC 6750, section 3.1; specification,
 * "OAuth errors"). To add one, add a row and throw it.
 */
export const oauthErrors = {
  invalid_request: {
    status: 400,
    text: 'The request is malformed.',
    when: 'A required parameter is missing, repeated, too long or malformed. The same error reports a wrong method (405), a body that is too large (413) or has another media type (415), and a body that takes too long (408).',
  },
  invalid_client: {
    status: 401,
    text: 'Client authentication failed.',
    when: 'The client is unknown or disabled, its secret is wrong, or neither a secret nor PKCE was used.',
  },
  invalid_grant: {
    status: 400,
    text: 'The authorization code is invalid, expired, already used, or was issued for another client, redirect URI or PKCE challenge.',
    when: 'The code has expired, was used before, belongs to another client or redirect URI, or its user no longer exists. The PKCE check failed. The refresh token has expired, was replaced, or belongs to another client.',
  },
  unauthorized_client: {
    status: 403,
    text: 'This client may not use this endpoint.',
    when: 'A client that is not a resource server requested the introspection of an access token.',
  },
  invalid_dpop_proof: {
    status: 400,
    text: 'The DPoP proof is missing or wrong.',
    when: 'With the option `dpop`: the proof is malformed, was used before, or belongs to another request or time; or it is missing, and the client, code or refresh token needs one (RFC 9449). At userinfo with status 401.',
  },
  invalid_scope: {
    status: 400,
    text: 'A requested scope is not allowed for this client.',
    when: 'A requested scope does not exist, or the client may not request it. A refresh requests a scope that the user did not approve.',
  },
  invalid_target: {
    status: 400,
    text: 'A requested resource is not known.',
    when: 'With the option `resources`: a `resource` is none of them, or a token is requested for one that was not authorized (RFC 8707).',
  },
  redirect_uri_mismatch: {
    status: 400,
    text: 'The redirect_uri is not registered for this client.',
    when: 'The redirect URI is not registered for the client, compared character by character. Ostiary does not redirect the browser in this case. If a code exchange uses another registered redirect URI than the authorization request, the error is `invalid_grant` instead.',
  },
  access_denied: {
    status: 400,
    text: 'The user denied the request.',
    when: 'The user denied the access, or revoked it during the request.',
  },
  token_expired: {
    status: 401,
    text: 'The access token expired; a new authorization is required.',
    when: 'The access token has expired after 3600 seconds. This error is reported for 24 hours after the expiry, and `invalid_token` afterwards.',
  },
  invalid_token: {
    status: 401,
    text: 'The access token is invalid.',
    when: 'The access token is missing, malformed, unknown or revoked, or its user no longer exists.',
  },
  unsupported_grant_type: {
    status: 400,
    text: 'The only supported grant_type is authorization_code.',
    when: 'The grant type is neither `authorization_code` nor, with the option `refreshTokens`, `refresh_token`.',
  },
  unsupported_response_type: {
    status: 400,
    text: 'The only supported response_type is code.',
    when: 'The response type is not `code`.',
  },
  login_required: {
    status: 400,
    text: 'The user must sign in.',
    when:
      'The request has `prompt=none`, and no user, or another one than expected, is signed in. With status 401: a script ' +
      'sent the request (`Sec-Fetch-Dest: empty`), and the user must sign in or consent.',
  },
  consent_required: {
    status: 400,
    text: 'The user must give consent.',
    when: 'The request has `prompt=none`, and the user has not consented to the requested scopes.',
  },
  unmet_authentication_requirements: {
    status: 400,
    text: 'The sign-in does not meet the requirements of the client.',
    when: 'The client requested `acr` as an essential claim (option `claimsParameter`), and the user signed in with none of its values.',
  },
  request_not_supported: {
    status: 400,
    text: 'The request parameter is not supported.',
    when: 'The authorization request contains a request object.',
  },
  request_uri_not_supported: {
    status: 400,
    text: 'The request_uri parameter is not supported.',
    when: 'The authorization request contains the URL of a request object. Ostiary never fetches it.',
  },
  invalid_request_uri: {
    status: 400,
    text: 'The request_uri is unknown, has expired, was used before, or belongs to another client.',
    when: 'A browser refers to a pushed authorization request that is older than 60 seconds, was used before, or was pushed by another client. The browser is never redirected then.',
  },
  registration_not_supported: {
    status: 400,
    text: 'The registration parameter is not supported.',
    when: 'The authorization request contains client metadata.',
  },
  slow_down: {
    status: 429,
    text: 'Too many requests.',
    when: 'An IP address started too many authorizations, failed client authentication too often, or used refresh tokens too often. The refresh tokens of one sign-in were used too often. `Retry-After` says how many seconds to wait. A refused refresh token stays valid.',
  },
  not_found: { status: 404, text: 'No such address.', when: 'No endpoint has this path.' },
  temporarily_unavailable: {
    status: 503,
    text: 'The service cannot answer at the moment.',
    when: 'The database is unreachable, a function of the host did not return in time (ten seconds, unless the option `hostTimeoutSeconds` sets another limit), or a refresh token was just used at a process whose sealing key this process does not have. `Retry-After` says how many seconds to wait. The request changed nothing, unless the connection to the database broke during the commit.',
  },
  server_error: {
    status: 500,
    text: 'An unexpected condition prevented the request.',
    when: 'The service has a defect. Quote the request id when you report it.',
  },
} as const satisfies { readonly [code: string]: ErrorDefinition };

/** An error code of the OAuth endpoints. */
export type OAuthErrorCode = keyof typeof oauthErrors;

/** Optional properties of an OAuth error. */
export interface OAuthErrorOptions {
  /** HTTP status to use instead of the one in the error table. */
  readonly status?: number;
  /** Additional headers of the error response. */
  readonly headers?: { readonly [name: string]: string };
  /** Underlying error, which is logged and never sent to the client. */
  readonly cause?: unknown;
  /** Kind of the error page shown to the user, if the error code alone is not clear enough. */
  readonly page?: 'expired' | 'csrf' | 'not_allowed';
}

/** Error of an OAuth endpoint. Thrown anywhere below the endpoint and turned into a response in one place. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly code: OAuthErrorCode;
  readonly status: number;
  /** Public text, sent to the caller as `error_description`. */
  readonly description: string;
  readonly headers: { readonly [name: string]: string };
  readonly page: 'expired' | 'csrf' | 'not_allowed' | null;

  constructor(code: OAuthErrorCode, description?: string, options: OAuthErrorOptions = {}) {
    super(`${code}: ${description ?? oauthErrors[code].text}`, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? oauthErrors[code].status;
    this.description = description ?? oauthErrors[code].text;
    this.headers = options.headers ?? {};
    this.page = options.page ?? null;
  }
}

/** Checks whether an error comes from a failed storage, such as an unreachable database. */
export function isStorageFailure(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'STORAGE_UNAVAILABLE';
}

/**
 * Thrown when a function of the host application did not return in time. A request that needs its result gets
 * a 503, and nothing was changed.
 */
export class HostTimeoutError extends Error {
  override readonly name = 'HostTimeoutError';

  constructor(call: string, seconds: number) {
    super(`${call} did not answer within ${seconds} s`);
  }
}

/**
 * Checks whether a retry of the request may succeed, because the database failed or the host application did
 * not return in time.
 */
function isUnavailable(error: unknown): boolean {
  return isStorageFailure(error) || error instanceof HostTimeoutError;
}

/** OAuth error codes with which console pages show errors of the partner API. */
const pageCodes: { readonly [code in PartnerErrorCode]?: OAuthErrorCode } = {
  not_found: 'not_found',
  rate_limit_exceeded: 'slow_down',
  internal_error: 'server_error',
};

/** Converts anything that was thrown into an error that the caller may see. */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof PartnerError) {
    const { code, description, status, headers } = error;
    return new OAuthError(pageCodes[code] ?? 'invalid_request', description, { status, headers });
  }
  if (isUnavailable(error)) {
    return new OAuthError('temporarily_unavailable', undefined, {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  return new OAuthError('server_error', undefined, { cause: error });
}

/** Errors of the partner API (specification, "Partner API errors"). To add one, add a row and throw it. */
export const partnerErrors = {
  invalid_request: {
    status: 400,
    text: 'The request is malformed.',
    when: 'A field, parameter or header is missing or malformed; `details` names it. Also a wrong method (405), a body that is too large (413), of another media type (415) or too slow (408).',
  },
  invalid_api_key: {
    status: 401,
    text: 'The API key is missing or not valid.',
    when: 'The API key is missing, malformed, unknown, revoked or expired, or its partner is disabled. All of these answer alike.',
  },
  invalid_signature: {
    status: 401,
    text: 'The request signature is missing or not valid.',
    when: 'The request carries a signature that does not match, is incomplete or more than 300 s from the present (the message says which of these), or the key requires one and there is none.',
  },
  insufficient_scope: {
    status: 403,
    text: 'The API key lacks the scope for this endpoint.',
    when: 'The key was not given the scope that the endpoint needs.',
  },
  ip_not_allowed: {
    status: 403,
    text: 'The API key may not be used from this address.',
    when: 'The key has an allowlist, and the caller’s address is not on it or cannot be determined.',
  },
  not_found: {
    status: 404,
    text: 'There is no such resource.',
    when: 'The path, user or transfer does not exist, or belongs to another partner or mode; or the endpoint belongs to the sandbox and the key is a live one.',
  },
  idempotency_conflict: {
    status: 409,
    text: 'This Idempotency-Key was used with another payload.',
    when: 'The `Idempotency-Key` came with another payload before, or the `reference` belongs to another transfer, which `details` names.',
  },
  token_expired: {
    status: 422,
    text: 'The passport token is older than five minutes.',
    when: 'The passport token is genuine and older than its five minutes.',
  },
  rate_limit_exceeded: {
    status: 429,
    text: 'The rate limit is exceeded.',
    when: 'The limit of this group of endpoints is used up. `Retry-After` says how many seconds to wait.',
  },
  internal_error: {
    status: 500,
    text: 'Something went wrong. Retry with exponential backoff.',
    when: 'A defect of the service (500); or its database cannot be reached, or the host that looks users up does not answer in time, or an earlier request with the same `Idempotency-Key` is not through after five seconds (503, with `Retry-After`). With a 503 the request changed nothing, unless the connection to the database broke during the commit: repeat it with the same `Idempotency-Key`.',
  },
} as const satisfies { readonly [code: string]: ErrorDefinition };

/** An error code of the partner API. */
export type PartnerErrorCode = keyof typeof partnerErrors;

/** A request field that caused an error. */
export interface ErrorDetail {
  /** Path of the field, such as `recipient.kid`. */
  readonly path: string;
  readonly message: string;
}

/**
 * Returns the public text of an error. For a malformed request, adds the first faulty field, for callers that
 * do not read `details`.
 */
function partnerText(code: PartnerErrorCode, [first]: readonly ErrorDetail[]): string {
  const { text } = partnerErrors[code];
  if (code !== 'invalid_request' || first === undefined) return text;
  return `${text.slice(0, -1)}${first.path === '' ? '' : ` at ${first.path}`}: ${first.message}`;
}

/**
 * Error of a partner API endpoint. Thrown anywhere below the endpoint and turned into a response in one
 * place.
 */
export class PartnerError extends Error {
  override readonly name = 'PartnerError';
  readonly code: PartnerErrorCode;
  readonly status: number;
  /** Public description of the error, which is sent to the partner. */
  readonly description: string;
  readonly details: readonly ErrorDetail[];
  readonly headers: { readonly [name: string]: string };

  constructor(
    code: PartnerErrorCode,
    options: OAuthErrorOptions & {
      readonly description?: string;
      readonly details?: readonly ErrorDetail[];
    } = {},
  ) {
    const { details = [], description = partnerText(code, details) } = options;
    super(`${code}: ${description}`, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? partnerErrors[code].status;
    this.description = description;
    this.details = details;
    this.headers = options.headers ?? {};
  }
}

/** Converts anything that was thrown into an error that a partner may see. */
export function toPartnerError(error: unknown): PartnerError {
  if (error instanceof PartnerError) return error;
  if (isUnavailable(error)) {
    return new PartnerError('internal_error', { status: 503, headers: { 'Retry-After': '1' }, cause: error });
  }
  // The shared body reader and router throw OAuth errors; convert them to partner errors.
  if (error instanceof OAuthError && error.code === 'invalid_request') {
    return new PartnerError('invalid_request', {
      description: error.description,
      status: error.status,
      headers: error.headers,
    });
  }
  if (error instanceof OAuthError && error.code === 'not_found') return new PartnerError('not_found');
  return new PartnerError('internal_error', { cause: error });
}
