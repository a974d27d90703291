import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import {
  createLogger,
  type Installation,
  loadConfig,
  openInstallation,
} from '../../../examples/reference-server/src/index.ts';
import { authorizePath, codeFrom, RoamingBrowser } from '../../support/browser/remote-flow.ts';
import { registerEndpoint } from '../../support/http.ts';
import { ServerProcess } from '../../support/measure/server-process.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import type { LoadSettings } from './acts.ts';
import type { ServerSettings } from './server.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** As the reference server is started; and what is alive in it can be told from what is not collected yet. */
const serverFlags = ['--conditions=source', '--max-semi-space-size=8', '--expose-gc'];

const partner = 'kafe-lakay';
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
  /** A process that does nothing. */
  readonly bystander: Asked;
  end(): Promise<void>;
}

function inTurn(name: string, server: ServerProcess): Asked {
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

type Given = Omit<LoadSettings, 'receiverPort' | 'ports' | 'webhookSecret'>;

async function provision(installation: Installation): Promise<Given> {
  const { ostiary, accounts, ledger } = installation;
  await ostiary.admin.partners.create({ slug: partner, name: 'Kafe Lakay' });
  await ledger.fund(partner, '10000000.00', 'HTG');
  const users: { sub: string; kid: string }[] = [];
  for (let index = 0; index < userCount; index += 1) {
    const { sub, kid } = await accounts.create({
      handle: `user-${index}`,
      name: `User ${index}`,
      phone: `+5093700${String(index).padStart(4, '0')}`,
      password: randomBytes(12).toString('hex'),
    });
    users.push({ sub, kid });
  }
  const redirectUri = 'https://shop.example/callback';
  const { client, clientSecret } = await ostiary.admin.clients.create({
    name: 'Kafe Lakay',
    redirectUris: [redirectUri],
    allowedScopes: ['openid', 'profile', 'kyc'],
    partner,
  });
  const { key } = await ostiary.admin.apiKeys.issue({
    partner,
    mode: 'live',
    scopes: ['identity:verify', 'payments:write', 'webhooks'],
  });
  return { users, redirectUri, clientId: client.clientId, clientSecret: clientSecret ?? '', apiKey: key };
}

/** Two web processes and a worker on a PostgreSQL of their own, a generator, and everything that it needs. */
export async function setScene(): Promise<Scene> {
  const ends: (() => Promise<unknown>)[] = [];
  const end = async (): Promise<void> => {
    for (const one of ends.splice(0).reverse()) await one().catch(() => undefined);
  };
  try {
    const postgres = await startServer();
    ends.push(() => postgres.remove());
    const [first = 0, second = 0, third = 0, receiverPort = 0, unused = 0] = await freePorts(5);
    const authUrl = `http://localhost:${first}`;
    const sealingKey = randomBytes(32).toString('base64url');
    const databaseUrl = postgres.url('app');
    const env = {
      NODE_ENV: 'development',
      OSTIARY_AUTH_URL: authUrl,
      OSTIARY_SEALING_KEYS: sealingKey,
      DATABASE_URL: databaseUrl,
    };
    const administrator = await openInstallation(loadConfig(env), createLogger('silent'));
    ends.push(() => administrator.close());
    const given = await provision(administrator);
    const start = async (name: string, port: number): Promise<Asked> => {
      const role = name === 'worker' ? 'worker' : 'web';
      const settings: ServerSettings = { role, port, authUrl, databaseUrl, sealingKey };
      const server = await ServerProcess.start(pathOf('./server.ts'), settings, serverFlags);
      ends.push(() => server.stop());
      return inTurn(name, server);
    };
    const processes = [
      await start('web 1', first),
      await start('web 2', second),
      await start('worker', third),
    ];
    const webhookSecret = randomBytes(32).toString('base64url');
    await registerEndpoint(authUrl, given.apiKey, {
      url: `http://localhost:${receiverPort}/`,
      events: ['payment.completed'],
      secret: webhookSecret,
    });
    await consent(authUrl, given);
    const settings: LoadSettings & { port: number } = {
      ...given,
      ...{ receiverPort, webhookSecret, ports: [first, second], port: receiverPort },
    };
    const measuring = await ServerProcess.start(pathOf('./generator.ts'), settings, ['--conditions=source']);
    ends.push(() => measuring.stop());
    const generator = inTurn('generator', measuring);
    const idle = await ServerProcess.start(pathOf('./bystander.ts'), { port: unused }, serverFlags);
    ends.push(() => idle.stop());
    const givePassports = async (): Promise<void> => {
      const fresh = Array.from({ length: passportCount }, (_, index) =>
        administrator.ostiary.passports.issue(given.users[index % userCount]?.sub ?? ''),
      );
      await generator.ask(
        'passports',
        (await Promise.all(fresh)).map(({ token }) => token),
      );
    };
    await givePassports();
    const timer = setInterval(() => void givePassports().catch(() => undefined), passportsEveryMs);
    ends.push(async () => clearInterval(timer));
    await generator.ask('warmUp', 50);
    return { processes, generator, bystander: inTurn('bystander', idle), end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Every user says yes on the consent page, once: later they pass without it. */
async function consent(
  authUrl: string,
  { users, clientId, clientSecret, redirectUri }: Given,
): Promise<void> {
  const path = authorizePath(
    { id: clientId, secret: clientSecret, redirectUri },
    { scope: 'openid profile kyc' },
  );
  for (const { sub } of users) await codeFrom([authUrl], new RoamingBrowser(authUrl, sub), path);
}
