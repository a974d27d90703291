/** Serves the catch-all route of the Next.js example without Next.js, and "Your app" at every other path. */
import { serve } from '@hono/node-server';
import { GET } from '../../src/whole/next.ts';
import { port } from '../../src/whole/your-app.ts';

serve({
  fetch: (request) => (new URL(request.url).pathname === '/' ? new Response('Your app') : GET(request)),
  port,
});
