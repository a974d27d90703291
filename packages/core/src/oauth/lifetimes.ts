/** Lifetime of an authorization code, in seconds (specification, "Limits"). */
export const codeSeconds = 600;

/** Lifetime of an authorization code of a client with the profile `fapi2`, in seconds (FAPI 2.0, section 5.3.2.2). */
export const fapi2CodeSeconds = 60;

/** Lifetime of an access token and of its ID token, in seconds. */
export const accessTokenSeconds = 3600;

/**
 * Time after the first use of a refresh token during which the old token still returns the same new one, in
 * milliseconds: for other tabs, and for lost responses.
 */
export const refreshGraceMs = 30_000;

/** Lifetime of an unfinished authorization request, in seconds. */
export const interactionSeconds = 3600;

/**
 * Lifetime of an authorization request without a signed-in user, in seconds. It is short, so that abandoned
 * requests do not occupy a row for long.
 */
export const anonymousInteractionSeconds = 600;

/** Lifetime of a pushed authorization request, in seconds (RFC 9126). */
export const pushedRequestSeconds = 60;

/** Time for which the response to an ended interaction is returned again to the same browser, in seconds. */
export const answerSeconds = 60;

/**
 * Time after its expiry during which an access token is reported as expired and not as unknown, in
 * milliseconds.
 */
export const expiredTokenMs = 24 * 3600_000;

/** Number of wrong PKCE verifiers after which an authorization code can no longer be used. */
export const maxFailedVerifiers = 5;
