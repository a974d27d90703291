/**
 * How long a stopping worker lets requests to others' servers go on, in milliseconds. Each ends by itself ten seconds after its start,
 * and the second beyond that is for signing and for names that resolve slowly: nothing is cut off that may have been received.
 */
export const stopGraceMs = 11_000;
