import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failToStart } from '@ostiary/reference-server';
import { startDemo } from './demo.ts';
import { withArguments } from './environment.ts';
import { freePorts } from './free-ports.ts';
import { styles } from './terminal.ts';
import { Browser } from './walkthrough/browser.ts';
import { clientOf, type Surroundings } from './walkthrough/flow.ts';
import { found } from './walkthrough/found.ts';
import { confidentialApp, discover, publicApp, signOut, takeBack } from './walkthrough/identity.ts';
import { walkThroughPartnerApi } from './walkthrough/partner.ts';
import { createReport, type Report, StepFailed, shortUrl } from './walkthrough/report.ts';
import { walkThroughWebhooks } from './walkthrough/webhooks.ts';

process.umask(0o077);

/**
 * Seconds between the attempts of a webhook delivery. The first pause is a whole second, so that the second
 * attempt has another timestamp.
 */
const retryDelays = '1,0.2,0.2,0.2';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs all steps of the demo's walkthrough. @throws StepFailed at the first step that fails */
async function walkThrough(report: Report, surroundings: Surroundings): Promise<void> {
  const { file } = surroundings;
  const browser = new Browser(({ method, url, form, status, location }) => {
    report.sent(`${method} ${shortUrl(url)}`, form);
    report.received(location === null ? `${status} page` : `${status} to ${shortUrl(location)}`);
  });
  const [confidential, publicClient] = [clientOf(file, false), clientOf(file, true)];
  const user = found(file.users[0], 'user');
  const endpoints = await discover({ report, file });
  const walk = { ...surroundings, report, browser, user, confidential, publicClient, endpoints };
  const chapters = [
    confidentialApp,
    publicApp,
    takeBack,
    walkThroughPartnerApi,
    walkThroughWebhooks,
    signOut,
  ];
  for (const chapter of chapters) await chapter(walk);
}

async function run(dataDir: string): Promise<void> {
  const [PORT = '', PARTNER_PORT = ''] = (await freePorts(2)).map(String);
  const {
    OSTIARY_AUTH_URL: _,
    OSTIARY_BASE_URL: __,
    ...env
  } = withArguments(process.env, process.argv.slice(2));
  const own = { OSTIARY_DATA_DIR: dataDir, OSTIARY_WEBHOOK_RETRY_DELAYS: retryDelays, PORT, PARTNER_PORT };
  const { file, partnerUrl, server, close } = await startDemo({ ...env, ...own });
  try {
    say(`A fresh Ostiary runs at ${file.authUrl}, on a temporary folder.`);
    say(`Webhooks that fail are tried again after ${retryDelays} s, and not on the usual schedule.`);
    const report = createReport(say);
    const { change: changeKyc } = server.installation.identityChecks;
    const start = performance.now();
    let held = false;
    try {
      await walkThrough(report, { file, shopUrl: partnerUrl, changeKyc });
      held = true;
    } finally {
      const { checks, lines } = report.summary();
      const seconds = ((performance.now() - start) / 1_000).toFixed(1);
      say(`\n${styles.heading('Summary')}\n${lines}`);
      if (held) say(`\n${styles.good(`Every step held: ${checks} checks in ${seconds} s.`)}`);
    }
  } finally {
    await close();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'ostiary-walkthrough-'));
try {
  await run(folder).finally(() => rm(folder, { recursive: true, force: true }));
} catch (error) {
  if (!(error instanceof StepFailed)) failToStart(error);
  say(`\n${styles.bad(`A step did not hold: ${error.message}`)}`);
  process.exitCode = 1;
}
