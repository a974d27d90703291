import type { Answer } from './answer.ts';

/** An answer, as a route of Next.js gives it. */
export const send = ({ status, headers, body }: Answer): Response => new Response(body, { status, headers });
