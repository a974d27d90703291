import { createTestOstiary } from '@ostiary/testing';
import * as ofOstiary from '../app/[...path]/route.ts';
import * as me from '../app/api/me/route.ts';
import * as login from '../app/login/route.ts';
import * as home from '../app/route.ts';
import { replaceInstance } from '../src/instance.ts';
import { options } from '../src/ostiary.ts';
import { authUrl } from '../src/settings.ts';

type Route = Readonly<Record<string, (request: Request) => Promise<Response>>>;
const routes: Readonly<Record<string, Route>> = { '/': home, '/login': login, '/api/me': me };

/** Starts the routes with storage in memory and without Next.js. */
export async function startKit() {
  const kit = await createTestOstiary({ ...options, authUrl });
  replaceInstance(kit.ostiary);
  kit.serve({
    async fetch(request) {
      const route: Route = routes[new URL(request.url).pathname] ?? ofOstiary;
      return route[request.method]?.(request) ?? new Response(null, { status: 405 });
    },
  });
  return kit;
}
