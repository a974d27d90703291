import { chmod, lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** Unix socket on which a server listens. */
export interface SocketAddress {
  readonly path: string;
  /** Permissions of the socket file: connecting requires write access. */
  readonly mode: number;
}

/** Explanations for the operator why a server cannot listen at a path, by the system's error code. */
export const socketReasons: Readonly<Record<string, (path: string, variable: string) => string>> = {
  EADDRINUSE: (path, variable) =>
    `another program listens at ${path}, or the file is no socket; set ${variable} to another path, or stop the other program`,
  // libuv reports a folder that does not exist as EACCES, too.
  EACCES: (path, variable) =>
    `${variable} ${path} is in a folder that does not exist, or in which this user may create nothing`,
};

/** Checks whether a process accepts connections at the path of a Unix socket. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // A full queue of connections (EAGAIN) means that the process is running but busy.
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      else if (error.code === 'EAGAIN' || error.code === 'EACCES') resolve(true);
      else reject(error);
    });
  });
}

/**
 * Removes the socket file of a process that was killed. Keeps a socket on which a process listens, and any
 * file that is not a socket. Returns whether the path is free now.
 */
export async function removeStaleSocket(path: string): Promise<boolean> {
  const file = await lstat(path).catch(() => null);
  if (file === null) return true;
  if (!file.isSocket() || (await isAnswered(path))) return false;
  await unlink(path);
  return true;
}

/** Sets the permissions of the socket file, which the umask has restricted. */
export const openSocketFile = ({ path, mode }: SocketAddress): Promise<void> => chmod(path, mode);
