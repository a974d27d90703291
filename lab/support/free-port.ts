import { freePorts } from '../../examples/demo/src/free-ports.ts';

/** Returns a free port, for a server that cannot choose a free port by itself. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}
