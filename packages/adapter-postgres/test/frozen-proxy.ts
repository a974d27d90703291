import { connect, createServer, type Socket } from 'node:net';

/** A way to the server that can lose every packet, as a cut cable does: nothing is refused, nothing is closed. */
export interface FrozenProxy {
  readonly port: number;
  freeze(): void;
  /** New connections work again; those that lost something are dead for good. */
  thaw(): void;
  close(): Promise<void>;
}

export async function frozenProxy(target: number): Promise<FrozenProxy> {
  let isFrozen = false;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const onward = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from);
      let isDead = false;
      from.on('data', (data) => {
        isDead ||= isFrozen;
        if (!isDead) to.write(data);
      });
      from.on('close', () => {
        sockets.delete(from);
        if (!isFrozen && !isDead) to.destroy();
      });
      from.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    freeze() {
      isFrozen = true;
    },
    thaw() {
      isFrozen = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
