import { instance } from '../../src/instance.ts';
// <mcp>
import { mcp, mcpPaths } from '../../src/mcp.ts';
import { send } from '../../src/send.ts';
// </mcp>

/** Handles requests for all paths that no other route handles. */
export async function GET(request: Request): Promise<Response> {
  const ostiary = await instance();
  // <mcp>
  if (mcpPaths.includes(new URL(request.url).pathname))
    return send(await mcp(ostiary, request, request.body));
  // </mcp>
  // Next.js does not expose the address of the connection. Set PROXY_ADDRESS to your proxy's address, and list
  // it in TRUSTED_PROXIES, so that the client's address is read from `X-Forwarded-For`.
  return ostiary.fetch(request, { address: process.env.PROXY_ADDRESS });
}

export { GET as DELETE, GET as OPTIONS, GET as PATCH, GET as POST };
