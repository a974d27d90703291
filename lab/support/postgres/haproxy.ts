import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { programOf } from '../program.ts';

/** Path of HAProxy; `undefined` if HAProxy is not installed. */
export const haproxy = programOf('haproxy');

const deployed = readFileSync(new URL('../../../deploy/haproxy-patroni.cfg', import.meta.url), 'utf8');

/** Ports of a PostgreSQL server and of the REST API of its Patroni. */
export interface CheckedServer {
  readonly port: number;
  readonly checkPort: number;
}

/**
 * Starts HAProxy in front of PostgreSQL servers, with the configuration of `deploy/haproxy-patroni.cfg`. Only the
 * addresses differ.
 */
export async function startHaproxy(program: string, servers: readonly CheckedServer[]) {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-haproxy-'));
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  const lines = servers.map(
    ({ port, checkPort }, index) => `\tserver db-${index + 1} 127.0.0.1:${port} check port ${checkPort}`,
  );
  const withoutServers = deployed
    .replace(/^\tserver .*\n/gm, '')
    .replace(/bind .*/, `bind 127.0.0.1:${port}`);
  await writeFile(file, `${withoutServers}${lines.join('\n')}\n`);
  const child = spawn(program, ['-f', file], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    port,
    async stop(): Promise<void> {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
