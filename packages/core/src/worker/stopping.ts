/**
 * Time for which a stopping worker waits for requests to other servers, in milliseconds. Each request ends by
 * itself ten seconds after its start. The extra second is for signing and slow name resolution, so that no
 * request is aborted that the receiver may have got.
 */
export const stopGraceMs = 11_000;
