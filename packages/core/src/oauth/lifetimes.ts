/** Life of an authorization code (specification, "Limits"). */
export const codeSeconds = 600;

/** Life of an access token, and of the ID token beside it. */
export const accessTokenSeconds = 3600;

/**
 * Time after the first use of a refresh token during which it returns its successor again: for other tabs,
 * and for lost responses.
 */
export const refreshGraceMs = 30_000;

/** An unfinished authorization request is forgotten after this time. */
export const interactionSeconds = 3600;

/**
 * The same before a user has signed in. Requests that are started without need occupy a row for this time
 * only.
 */
export const anonymousInteractionSeconds = 600;

/** Time in which the answer to an interaction is repeated to a browser that answers again. */
export const answerSeconds = 60;

/** Time after its end during which an access token is reported as expired rather than unknown. */
export const expiredTokenMs = 24 * 3600_000;

/** Wrong PKCE verifiers after which a code is worthless. */
export const maxFailedVerifiers = 5;
