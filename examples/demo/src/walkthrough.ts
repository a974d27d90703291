import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failToStart } from '@ostiary/reference-server';
import { startDemo } from './demo.ts';
import { createReport, StepFailed } from './walkthrough/report.ts';
import { walkThrough } from './walkthrough/steps.ts';

process.umask(0o077);

/** Ports that nobody uses at this moment; held together, so that they differ. */
async function freePorts(): Promise<[string, string]> {
  const servers = [createServer(), createServer()] as const;
  const ports = servers.map(
    (server) =>
      new Promise<string>((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, '127.0.0.1', () => {
          const address = server.address();
          resolve(String(typeof address === 'object' && address !== null ? address.port : 0));
        });
      }),
  );
  const [one = '', other = ''] = await Promise.all(ports);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return [one, other];
}

async function run(dataDir: string): Promise<void> {
  const [port, partnerPort] = await freePorts();
  const { OSTIARY_AUTH_URL: _, OSTIARY_BASE_URL: __, ...env } = process.env;
  const demo = await startDemo({ ...env, OSTIARY_DATA_DIR: dataDir, PORT: port, PARTNER_PORT: partnerPort });
  try {
    process.stdout.write(`A fresh Ostiary runs at ${demo.file.authUrl}, on a temporary folder.\n`);
    const report = createReport((line) => void process.stdout.write(`${line}\n`));
    await walkThrough(report, demo.file);
    process.stdout.write(`\nEvery step held: ${report.checks} checks.\n`);
  } finally {
    await demo.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'ostiary-walkthrough-'));
try {
  await run(folder).finally(() => rm(folder, { recursive: true, force: true }));
} catch (error) {
  if (!(error instanceof StepFailed)) failToStart(error);
  process.stdout.write(`\nA step did not hold: ${error.message}\n`);
  process.exitCode = 1;
}
