/**
 * Time for which a stopping worker lets requests to other servers go on, in milliseconds. Each ends by itself
 * ten seconds after its start. The second beyond that is for signing and for slow name resolution, so that no
 * request is cut off that may have been received.
 */
export const stopGraceMs = 11_000;
