import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** A TCP connection without TLS; Node resets no others. */
const isTcp = (socket: Socket | null): socket is Socket =>
  socket instanceof Socket && socket.remoteAddress !== undefined && !('encrypted' in socket);

/**
 * Ends an answer so that its reader knows that it is incomplete. Without chunks (HTTP/1.0, which nginx speaks to servers unless
 * it is configured otherwise), closing the connection is how a whole answer ends (RFC 9112, section 6.3), but a reset is an
 * error.
 */
export function breakOff(response: ServerResponse): void {
  // Only one stream of HTTP/2 ends with an error. Others on its connection go on.
  if (response.req.httpVersionMajor >= 2) response.destroy(new Error('the answer broke off'));
  else if (isTcp(response.socket)) response.socket.resetAndDestroy();
  else response.destroy();
}
