import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failToStart } from '@ostiary/reference-server';
import { withArguments } from './arguments.ts';
import { startDemo } from './demo.ts';
import { createReport, StepFailed } from './walkthrough/report.ts';
import { walkThrough } from './walkthrough/steps.ts';

process.umask(0o077);

/**
 * Seconds between the attempts of a webhook delivery. The first wait is a whole second, so that the second attempt has
 * another timestamp.
 */
const retryDelays = '1,0.2,0.2,0.2';

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
  const {
    OSTIARY_AUTH_URL: _,
    OSTIARY_BASE_URL: __,
    ...env
  } = withArguments(process.env, process.argv.slice(2));
  const demo = await startDemo({
    ...env,
    OSTIARY_DATA_DIR: dataDir,
    PORT: port,
    PARTNER_PORT: partnerPort,
    OSTIARY_WEBHOOK_RETRY_DELAYS: retryDelays,
  });
  try {
    process.stdout.write(`A fresh Ostiary runs at ${demo.file.authUrl}, on a temporary folder.\n`);
    process.stdout.write(
      `Webhooks that fail are tried again after ${retryDelays} s instead of 60,300,1800,7200.\n`,
    );
    const report = createReport((line) => void process.stdout.write(`${line}\n`));
    await walkThrough(report, {
      file: demo.file,
      shopUrl: demo.partnerUrl,
      changeKyc: demo.server.installation.identityChecks.change,
    });
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
