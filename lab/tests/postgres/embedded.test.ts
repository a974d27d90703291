import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import { startPostgres } from '../../support/postgres/embedded.ts';

it('draws ports that differ, below those of outgoing connections', async () => {
  const ports = await freePorts(100);
  expect(new Set(ports).size).toBe(100);
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

/** Returns a folder for a PostgreSQL server, and a port that is already in use. */
async function taken() {
  const [port = 0] = await freePorts(1);
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'demo-postgres-'));
  onTestFinished(() => {
    other.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { port, other, folder };
}

it('says why PostgreSQL does not start', async () => {
  const { port, folder } = await taken();
  await expect(startPostgres(folder, { port, password: 'secret' })).rejects.toThrow(
    /^PostgreSQL does not start: [\s\S]*Address already in use/,
  );
});

it('starts once the port is given back, and again after a crash', async () => {
  const { port, other, folder } = await taken();
  const starting = startPostgres(folder, { port, password: 'secret', settings: ['fsync=off'] });
  setTimeout(() => other.close(), 1_000);
  const postgres = await starting;
  expect(postgres.url('shop')).toBe(`postgres://postgres:secret@127.0.0.1:${port}/shop`);
  await postgres.stop('immediate');
  await postgres.start();
  await postgres.stop();
});
