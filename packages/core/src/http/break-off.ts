import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** Checks whether a socket is a TCP connection without TLS, the only kind that Node can reset. */
const isTcp = (socket: Socket | null): socket is Socket =>
  socket instanceof Socket && socket.remoteAddress !== undefined && !('encrypted' in socket);

/**
 * Aborts a response so that the client notices that it is incomplete. Without chunked encoding (HTTP/1.0,
 * which nginx uses towards servers by default), a closed connection means a complete response (RFC 9112,
 * section 6.3), so the connection is reset instead.
 */
export function breakOff(response: ServerResponse): void {
  // In HTTP/2 end only this stream with an error; other streams on the connection go on.
  if (response.req.httpVersionMajor >= 2) response.destroy(new Error('the response broke off'));
  else if (isTcp(response.socket)) response.socket.resetAndDestroy();
  else response.destroy();
}
