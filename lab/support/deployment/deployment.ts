import { randomBytes } from 'node:crypto';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import {
  createLogger,
  type Installation,
  loadConfig,
  openInstallation,
} from '../../../examples/reference-server/src/index.ts';
import { registerEndpoint } from '../http.ts';
import { secret } from '../processes/cluster-options.ts';
import { type ReferenceProcess, referenceProcess } from '../processes/reference-process.ts';
import { Receiver } from '../receiver.ts';
import { signIn } from './load.ts';
import { type Credentials, partner } from './mix.ts';

/** The reference server as a team deploys it: several processes behind a load balancer. */
export type Deployment = Omit<Awaited<ReturnType<typeof deploy>>, 'balancer'>;

/**
 * Credentials of the app, the user and the partner of a deployment, with the webhook receiver and the
 * browser.
 */
export type Population = Awaited<ReturnType<typeof populate>>;

/** Number of processes of each kind. `all` is one process that does everything, as on SQLite. */
export type Size = { readonly webs: number; readonly workers: number } | 'all';

export function newSealingKey(): string {
  return randomBytes(32).toString('base64url');
}

/** Starts something in front of the web processes that sends each request to one of them. */
type OpenFront<Front> = (port: number, webs: readonly ReferenceProcess[]) => Promise<Front>;

/**
 * Starts all processes on the database that `store` configures.
 * @param openFront - starts the load balancer or proxy
 */
export async function deploy<Front extends { close(): Promise<void> }>(
  ends: AsyncDisposableStack,
  size: Size,
  store: Readonly<Record<string, string>>,
  openFront: OpenFront<Front>,
  sealingKey = newSealingKey(),
) {
  const { webs: webCount, workers: workerCount } = size === 'all' ? { webs: 1, workers: 0 } : size;
  const [front = 0, ...ports] = await freePorts(1 + webCount + workerCount);
  const authUrl = `http://localhost:${front}`;
  // Environment of all processes. Rotating the sealing key changes it.
  const env: Readonly<Record<string, string>> = {
    NODE_ENV: 'development',
    OSTIARY_AUTH_URL: authUrl,
    OSTIARY_SEALING_KEYS: sealingKey,
    OSTIARY_TRUSTED_PROXIES: '127.0.0.1',
    OSTIARY_DRAIN_SECONDS: '1',
    OSTIARY_LOG_LEVEL: 'fatal',
    ...store,
  };
  const processes = (role: string, count: number) =>
    ports.splice(0, count).map((port, index) => {
      return referenceProcess(`${role} ${index + 1}`, port, { ...env, OSTIARY_ROLE: role });
    });
  const webs = processes(size === 'all' ? 'all' : 'web', webCount);
  const workers = processes('worker', workerCount);
  const everybody = [...webs, ...workers];
  for (const one of everybody) ends.defer(async () => void (await one.stop()));
  await Promise.all(everybody.map((one) => one.start()));
  const balancer = await openFront(front, webs);
  ends.defer(() => balancer.close());
  return { authUrl, env, sealingKey, webs, workers, balancer };
}

/**
 * Runs an administrative task as an operator's command does: outside of the server processes, with their
 * environment.
 */
export async function administer<Result>(
  env: Readonly<Record<string, string>>,
  act: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const installation = await openInstallation(loadConfig({ ...env }), createLogger('silent'));
  try {
    return await act(installation);
  } finally {
    await installation.close();
  }
}

/** Creates a user, an app, and a partner with money and API keys. */
async function provision({ ostiary: { admin }, accounts, ledger }: Installation) {
  await admin.partners.create({ slug: partner, name: 'Kafe Lakay' });
  await ledger.fund(partner, '10000000.00', 'HTG');
  const password = newSealingKey();
  const account = { handle: 'ana', name: 'Ana', phone: '+50937000000', password };
  const { sub, kid } = await accounts.create(account);
  const redirectUri = 'https://shop.example/callback';
  const { client, clientSecret } = await admin.clients.create({
    ...{ name: 'Kafe Lakay', redirectUris: [redirectUri], partner, allowedScopes: ['openid'] },
  });
  const secret = clientSecret ?? '';
  const apiKeys: { id: string; keys: string[] }[] = [];
  // Use three keys in turns from one IP address: a key may verify once and pay twice a second, and an address
  // may start five authorizations a second.
  for (let index = 0; index < 3; index += 1) {
    const { apiKey, key } = await admin.apiKeys.issue({
      ...{ partner, mode: 'live' },
      scopes: ['identity:verify', 'payments:write', 'payments:read', 'webhooks'],
    });
    apiKeys.push({ id: apiKey.id, keys: [key] });
  }
  const credentials: Credentials = {
    client: { id: client.clientId, secret, redirectUri },
    ...{ clientSecrets: [secret], apiKeys, users: [{ sub, kid }] },
  };
  return { credentials, account };
}

/** Creates a partner with its API keys and an endpoint, an app, and a user who has signed in. */
export async function populate(
  ends: AsyncDisposableStack,
  { authUrl, env }: Pick<Deployment, 'authUrl' | 'env'>,
) {
  const { credentials, account } = await administer(env, provision);
  const receiver = new Receiver();
  await registerEndpoint(authUrl, credentials.apiKeys[0]?.keys[0] ?? '', {
    url: `${await receiver.listen()}/`,
    events: ['payment.completed'],
    secret,
  });
  ends.defer(() => receiver.close());
  const browser = await signIn(authUrl, account);
  return { credentials, receiver, browser };
}
