import type { Answer } from './answer.ts';

/** Converts a response to the one that a route of Next.js returns. */
export const send = ({ status, headers, body }: Answer): Response => new Response(body, { status, headers });
