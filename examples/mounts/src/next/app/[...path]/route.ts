import { parts } from '../../ostiary.ts';

/** Mounts Ostiary in Next.js: Ostiary handles all paths without a route of their own. */
export async function GET(request: Request): Promise<Response> {
  const ostiary = await parts().ostiary;
  // Next.js does not expose the address of the connection. Every request comes from the proxy in front, which
  // reports the client's address in `X-Forwarded-For`.
  return ostiary.fetch(request, {
    address: process.env.PROXY_ADDRESS,
    next: () => new Response('not in this shop', { status: 404 }),
  });
}

export { GET as OPTIONS, GET as POST, GET as PATCH, GET as DELETE };
