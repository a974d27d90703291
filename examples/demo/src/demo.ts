import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { startPartnerApp, type WebhookMode } from '@ostiary/partner-app';
import {
  createLogger,
  loadConfig,
  type ReferenceServer,
  type ServerOptions,
  startReferenceServer,
} from '@ostiary/reference-server';
import { type DemoFile, demoSealingKey, readDemoFile, writeDemoFile } from './demo-file.ts';
import { readDemoEnvironment } from './environment.ts';
import { seed } from './seed.ts';

/** A running demo: the reference server and the partner app. */
export interface Demo {
  readonly file: DemoFile;
  readonly dataDir: string;
  readonly partnerUrl: string;
  readonly server: ReferenceServer;
  close(): Promise<void>;
}

async function openShop(file: DemoFile, url: string, port: number): Promise<{ close(): Promise<void> }> {
  const clientOf = (isPublic: boolean) => {
    const client = file.clients.find(({ clientSecret }) => (clientSecret === null) === isPublic);
    if (client === undefined) throw new Error('the demo has no such client');
    return client;
  };
  const live = file.apiKeys.find(({ mode }) => mode === 'live');
  const secretOf = (mode: WebhookMode): string | null =>
    file.webhooks.find((webhook) => webhook.mode === mode)?.secret ?? null;
  return startPartnerApp({
    url,
    host: '127.0.0.1',
    port,
    provider: { name: 'Ostiary', authUrl: file.authUrl, baseUrl: file.baseUrl },
    clients: { confidential: clientOf(false), public: clientOf(true) },
    partnerApi: live ?? null,
    webhooks: { prefix: file.prefix, secrets: { live: secretOf('live'), test: secretOf('test') } },
  });
}

/**
 * Starts the reference server and the partner app in this process, on loopback addresses, with demo data.
 *
 * @param options - options for tests, such as cheaper password hashes
 * @throws ConfigError for settings that the demo refuses, or for data whose `demo.json` is lost
 * @throws AddressError if one of the two servers cannot listen at its address
 */
export async function startDemo(
  env: NodeJS.ProcessEnv,
  options: Pick<ServerOptions, 'passwordCost'> = {},
): Promise<Demo> {
  const { dataDir, authUrl, baseUrl, port, partnerUrl, partnerPort } = readDemoEnvironment(env);
  const config = loadConfig({
    ...env,
    // Never put demo data into an existing database.
    DATABASE_URL: '',
    DATABASE_URL_FILE: '',
    OSTIARY_SEALING_KEYS_FILE: '',
    OSTIARY_ROLE: 'all',
    NODE_ENV: 'development',
    HOST: '127.0.0.1',
    PORT: String(port),
    OSTIARY_OPERATORS: 'on',
    OSTIARY_AUTH_URL: authUrl,
    OSTIARY_BASE_URL: baseUrl,
    OSTIARY_DATA_DIR: dataDir,
    OSTIARY_SEALING_KEYS: await demoSealingKey(dataDir),
  });
  await using opened = new AsyncDisposableStack();
  // The terminal is for people, so the log goes to a file, which every start overwrites.
  const logFile = opened.use(await open(join(dataDir, 'server.log'), 'w', 0o600));
  const logger = createLogger(config.logLevel, { write: (line) => void logFile.appendFile(line) });
  const server = opened.adopt(
    await startReferenceServer(config, { ...options, logger, closeDeadlineMs: 5_000 }),
    (it) => it.close(),
  );
  const { prefix } = config;
  const seeded = await seed(server.installation, await readDemoFile(dataDir), {
    prefix,
    apiOrigin: `http://127.0.0.1:${server.port}`,
    partnerUrl,
  });
  const file: DemoFile = { authUrl, baseUrl, prefix, ...seeded };
  await writeDemoFile(dataDir, file);
  opened.adopt(await openShop(file, partnerUrl, partnerPort), (shop) => shop.close());
  const running = opened.move();
  return { file, dataDir, partnerUrl, server, close: () => running.disposeAsync() };
}
