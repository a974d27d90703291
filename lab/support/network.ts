import { connect, createServer, type Socket } from 'node:net';

/**
 * Starts a simulated network between processes and their database. The network can lose every packet, like a
 * cut cable: connections are then neither refused nor closed.
 * @param target - port of the database server
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
        // While the cable is cut, the other end does not notice that a client disconnects.
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
    /** Repairs the simulated network for new connections. Connections that lost packets never recover. */
    mend() {
      isCut = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
