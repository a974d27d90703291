import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failToStart } from '@ostiary/reference-server';
import { withArguments } from './arguments.ts';
import { startDemo } from './demo.ts';
import { freePorts } from './free-ports.ts';
import { createReport, StepFailed } from './walkthrough/report.ts';
import { walkThrough } from './walkthrough/steps.ts';

process.umask(0o077);

/**
 * Seconds between the attempts of a webhook delivery. The first wait is a whole second, so that the second attempt has
 * another timestamp.
 */
const retryDelays = '1,0.2,0.2,0.2';

async function run(dataDir: string): Promise<void> {
  const [port = '', partnerPort = ''] = (await freePorts(2)).map(String);
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
