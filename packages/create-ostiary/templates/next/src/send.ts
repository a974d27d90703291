import type { Answer } from './answer.ts';

/** Converts a response of the app to the response that a route of Next.js returns. */
export const send = ({ status, headers, body }: Answer): Response => new Response(body, { status, headers });
