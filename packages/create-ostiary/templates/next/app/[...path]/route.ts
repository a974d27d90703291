import { instance } from '../../src/instance.ts';

/** Handles all paths without a route of their own. */
export async function GET(request: Request): Promise<Response> {
  const ostiary = await instance();
  // Next.js does not expose the address of the connection. Set PROXY_ADDRESS to your proxy's address, so that
  // the client's is read from `X-Forwarded-For`.
  return ostiary.fetch(request, { address: process.env.PROXY_ADDRESS });
}

export { GET as DELETE, GET as OPTIONS, GET as PATCH, GET as POST };
