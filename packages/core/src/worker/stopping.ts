/**
 * Time for which a stopping worker waits for requests to other servers, in milliseconds. A request fails
 * unless its response headers arrive within ten seconds. The extra second is for signing and slow name
 * resolution. So a request that is aborted after this time has a known status, and loses only the rest of its
 * response body.
 */
export const stopGraceMs = 11_000;
