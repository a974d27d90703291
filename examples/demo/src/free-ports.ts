import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Range of ports from which the demo chooses. The range lies below the ports that systems give to outgoing
 * connections, because such a connection could take a port before its server listens, or while the server
 * restarts. It begins above 10080, which browsers and `fetch` refuse as a bad port.
 */
export const range = { from: 10_081, to: 32_000 } as const;

/** Number of ports that are tried before giving up. */
const tries = 50;

/** Listens on a free random port. @throws the error of the last port that was tried */
async function holdOne(): Promise<{ readonly port: number; readonly server: Server }> {
  for (let left = tries; ; left -= 1) {
    const port = randomInt(range.from, range.to);
    const server = createServer();
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', resolve);
      });
      return { port, server };
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

/**
 * Returns ports that are free at this moment. Each port is held open until the last one is found, so that all
 * ports differ.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held = await Promise.all(Array.from({ length: count }, holdOne));
  await Promise.all(held.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  return held.map(({ port }) => port);
}
