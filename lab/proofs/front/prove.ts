import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { readBooks } from '../../support/deployment/books.ts';
import { administer, type Deployment, deploy, populate } from '../../support/deployment/deployment.ts';
import { Load, type Rates } from '../../support/deployment/load.ts';
import { partner } from '../../support/deployment/mix.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { openProxy, type ProxyName } from '../../support/processes/proxies.ts';
import { type Claim, claim, until } from '../../support/proof.ts';

/** Size of a run behind one proxy. */
interface Size {
  /** Number of requests during which the web processes are replaced. */
  readonly requests: number;
  /** Number of operations per second, by kind. */
  readonly rates: Rates;
}

const portOf = ({ origin }: { readonly origin: string }): number => Number(new URL(origin).port);

/** Restarts the web processes one after the other, again and again, until enough requests were made. */
async function restartWebs(
  { webs }: Deployment,
  isEnough: () => boolean,
): Promise<readonly (number | null)[]> {
  const codes: (number | null)[] = [];
  while (!isEnough()) {
    for (const web of webs) {
      codes.push(await web.restart({}));
      // Let the proxy notice before the next process stops.
      await delay(2_500);
    }
  }
  return codes;
}

/** Calls the partner API from this machine with a key, and with a header that names another address. */
async function statusWithAddress({ authUrl }: Deployment, key: string, address: string): Promise<number> {
  const headers = { 'x-api-key': key, 'x-forwarded-for': address };
  const response = await fetch(`${authUrl}/v1/partner/payments`, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** Checks that the allowlist of a key sees the address of the caller, and not the address in its header. */
async function proveAddress(deployment: Deployment): Promise<Claim> {
  const issue = (allowlist: readonly string[]) =>
    administer(deployment.env, ({ ostiary: { admin } }) =>
      admin.apiKeys.issue({ partner, mode: 'live', scopes: ['payments:read'], allowlist }),
    );
  const [here, elsewhere] = [await issue(['127.0.0.1/32', '::1/128']), await issue(['203.0.113.0/24'])];
  const statuses = [
    await statusWithAddress(deployment, here.key, '203.0.113.9'),
    await statusWithAddress(deployment, elsewhere.key, '203.0.113.9'),
  ];
  return claim('the address is the caller’s', statuses.join() === '200,403', statuses.join(' and '));
}

/**
 * Sends a body that is too large. @returns the status and the type of the response, or the message of a
 * network error
 */
function sendLargeBody({ authUrl }: Deployment, key: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      'content-length': 4 * 1024 * 1024,
    };
    const sent = request(
      `${authUrl}/v1/partner/payments`,
      { method: 'POST', agent: false, headers },
      (response) => {
        response
          .resume()
          .once('end', () => resolve(`${response.statusCode} ${response.headers['content-type']}`));
      },
    );
    sent.once('error', ({ message }) => resolve(message)).end(Buffer.alloc(4 * 1024 * 1024, 'a'));
  });
}

/**
 * Runs a deployment behind a proxy with the configuration of `deploy/`, and replaces its web processes under
 * load.
 */
export async function proveBehind(name: ProxyName, { requests, rates }: Size): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  const server = await startServer();
  ends.defer(() => server.remove());
  const databaseUrl = server.url('app');
  const store = { DATABASE_URL: databaseUrl, OSTIARY_DRAIN_SECONDS: '4' };
  const deployment = await deploy(ends, { webs: 2, workers: 1 }, store, (front, [first, second]) => {
    if (first === undefined || second === undefined) throw new Error('two web processes are needed');
    return openProxy(name, { front, webs: [portOf(first), portOf(second)] });
  });
  const { credentials, browser, receiver } = await populate(ends, deployment);
  const load = new Load(deployment.authUrl, credentials, browser);
  ends.defer(() => load.stop());
  load.begin(name);
  await load.start(rates);
  const codes = await restartWebs(deployment, () => load.tallyOf(name).requests >= requests);
  await load.stop();
  const { requests: made, failures } = load.tallyOf(name);
  const { transfers } = load.mix;
  await until(() => transfers.every((id) => receiver.seen.has(id)));
  const untold = transfers.filter((id) => !receiver.seen.has(id)).length;
  const books = await readBooks(databaseUrl, partner);
  const balanced = books.disorders === 0 && books.transfers === transfers.length;
  const tooLarge = await sendLargeBody(deployment, credentials.apiKeys[0]?.keys[0] ?? '');
  const claims: Claim[] = [
    { name: 'no request fails while processes are replaced', problems: failures, found: `${made} requests` },
    claim(
      'every process ends by itself',
      codes.every((code) => code === 0),
      `${codes.length} times`,
    ),
    claim('every transfer is told', untold === 0, `${transfers.length} transfers, ${untold} not told`),
    claim('every transfer is paid once', balanced, `${books.transfers} paid, ${books.disorders} disorders`),
    claim(
      'a body that is too large is refused by the server',
      tooLarge.startsWith('413 application/json'),
      tooLarge,
    ),
    await proveAddress(deployment),
  ];
  return claims.map((one) => ({ ...one, name: `${name}: ${one.name}` }));
}
