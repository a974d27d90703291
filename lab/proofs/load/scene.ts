import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import { createLogger, loadConfig, openInstallation } from '../../../examples/reference-server/src/index.ts';
import { authorizePath, codeFrom, RoamingBrowser } from '../../support/browser/remote-flow.ts';
import { registerEndpoint } from '../../support/http.ts';
import { ServerProcess } from '../../support/measure/server-process.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import type { Ends } from '../../support/proof.ts';
import { type Credentials, provision } from '../mix.ts';
import type { LoadSettings } from './generator.ts';
import type { ServerSettings } from './server.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** As the reference server is started; and what is alive in it can be told from what is not collected yet. */
const serverFlags = ['--conditions=source', '--max-semi-space-size=8', '--expose-gc'];

const userCount = 50;
/** Fresh passports come every minute: they live five. */
const passportCount = 200;
const passportsEveryMs = 60_000;

/** A process that can be asked at any time: questions wait for each other. */
export interface Asked {
  readonly name: string;
  ask<Answer>(question: string, argument?: unknown): Promise<Answer>;
}

/** What is measured, and what measures. */
export interface Scene {
  readonly processes: readonly Asked[];
  readonly generator: Asked;
}

async function start<Settings extends { readonly port: number }>(
  ends: Ends,
  file: string,
  name: string,
  settings: Settings,
): Promise<Asked> {
  const server = await ServerProcess.start(pathOf(file), settings, serverFlags);
  ends.add(() => server.stop());
  let last: Promise<unknown> = Promise.resolve();
  return {
    name,
    ask<Answer>(question: string, argument: unknown = null) {
      const answer = last.then(() => server.ask<Answer>(question, argument));
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}

/** Every user says yes on the consent page, once: later they pass without it. */
async function consent(authUrl: string, { users, clientId, redirectUri }: Credentials): Promise<void> {
  const client = { id: clientId, secret: '', redirectUri };
  const path = authorizePath(client, { scope: 'openid profile kyc' });
  for (const { sub } of users) await codeFrom([authUrl], new RoamingBrowser(authUrl, sub), path);
}

/** Two web processes and a worker on a PostgreSQL of their own, a generator, and everything that it needs. */
export async function setScene(ends: Ends): Promise<Scene> {
  const postgres = await startServer();
  ends.add(() => postgres.remove());
  const [first = 0, second = 0, third = 0, port = 0] = await freePorts(4);
  const origins = [first, second].map((at) => `http://localhost:${at}`);
  const [authUrl = ''] = origins;
  const env = {
    NODE_ENV: 'development',
    OSTIARY_AUTH_URL: authUrl,
    OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
    DATABASE_URL: postgres.url('app'),
  };
  const administrator = await openInstallation(loadConfig(env), createLogger('silent'));
  ends.add(() => administrator.close());
  const credentials = await provision(administrator, { users: userCount, keys: 1 });
  const serve = (name: string, at: number, role: ServerSettings['role']) =>
    start(ends, './server.ts', name, { role, port: at, env } satisfies ServerSettings);
  const processes = [
    await serve('web 1', first, 'web'),
    await serve('web 2', second, 'web'),
    await serve('worker', third, 'worker'),
  ];
  const webhookSecret = randomBytes(32).toString('base64url');
  await registerEndpoint(authUrl, credentials.apiKeys[0]?.keys[0] ?? '', {
    url: `http://localhost:${port}/`,
    events: ['payment.completed'],
    secret: webhookSecret,
  });
  await consent(authUrl, credentials);
  const settings: LoadSettings = { origins, webhookSecret, credentials, port };
  const generator = await start(ends, './generator.ts', 'generator', settings);
  const givePassports = async (): Promise<void> => {
    const fresh = Array.from({ length: passportCount }, async (_, index) => {
      const { sub = '' } = credentials.users[index % userCount] ?? {};
      return (await administrator.ostiary.passports.issue(sub)).token;
    });
    await generator.ask('takePassports', await Promise.all(fresh));
  };
  await givePassports();
  const timer = setInterval(() => void givePassports().catch(() => undefined), passportsEveryMs);
  ends.add(() => clearInterval(timer));
  await generator.ask('warmUp', 50);
  return { processes, generator };
}
