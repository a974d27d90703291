import { connect, createServer, type Socket } from 'node:net';

/**
 * Network between processes and their database. It can lose every packet, as a cut cable does: connections
 * are neither refused nor closed.
 * @param target - the port of the server
 */
export async function startNetwork(target: number) {
  let isCut = false;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      let isDead = false;
      from.on('data', (data) => {
        isDead ||= isCut;
        if (!isDead) to.write(data);
      });
      from.on('close', () => {
        sockets.delete(from);
        // A client that disconnects while the cable is cut is never noticed at the other end.
        if (!isCut && !isDead) to.destroy();
      });
      from.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    cut() {
      isCut = true;
    },
    /** Restores the network for new connections; those that lost packets never recover. */
    mend() {
      isCut = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
