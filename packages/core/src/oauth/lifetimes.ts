/** Life of an authorization code (specification, "Limits"). */
export const codeSeconds = 600;

/** Life of an access token, and of the ID token beside it. */
export const accessTokenSeconds = 3600;

/** How long after its first use a refresh token still gives its successor: to other tabs, and when an answer got lost. */
export const refreshGraceMs = 30_000;

/** An unfinished authorization request is forgotten after this time. */
export const interactionSeconds = 3600;

/** The same, until somebody signed in: whoever starts one without need costs a row for no longer than this. */
export const anonymousInteractionSeconds = 600;

/** Time in which the answer to an interaction is repeated to a browser that answers again. */
export const answerSeconds = 60;

/** How long an access token is recognised as expired, rather than unknown, after its end. */
export const expiredTokenMs = 24 * 3600_000;

/** Wrong PKCE verifiers after which a code is worthless. */
export const maxFailedVerifiers = 5;
