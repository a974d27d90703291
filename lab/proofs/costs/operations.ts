import { randomUUID } from 'node:crypto';
import { measureRate, type RawRequest, rawRequest } from '../../support/measure/load.ts';
import { eachOf } from '../../support/proof.ts';
import type { CostStage } from './stage.ts';

/** Cost of one call of an operation: microseconds of processor time, and number of SQL statements. */
interface Cost {
  readonly web: number;
  readonly worker: number;
  readonly database: number;
  readonly statements: number;
}

/** Calls an operation `count` times, from `callers` concurrent callers. */
type Operation = (count: number, callers: number) => Promise<unknown>;

/**
 * Makes a function that authorizes the app as a user who is signed in and has consented before. The function
 * returns the authorization code.
 */
function authorizations({
  authUrl,
  port,
  session,
  authorizePath,
  redirectUri,
}: CostStage): () => Promise<string> {
  let addresses = 0;
  // Use another IP address each time: an address may start five authorizations a second.
  return async () => {
    addresses += 1;
    const headers = {
      cookie: `ostiary_session=${session}`,
      accept: 'text/html',
      'x-forwarded-for': `203.0.113.${addresses % 250}`,
      // Send the server's own name, because it redirects requests for another one.
      'x-forwarded-host': new URL(authUrl).host,
    };
    const answer = await fetch(`http://127.0.0.1:${port}${authorizePath}`, {
      headers,
      redirect: 'manual',
    });
    await answer.arrayBuffer();
    const code = new URL(answer.headers.get('location') ?? '', redirectUri).searchParams.get('code');
    if (code === null) throw new Error(`no code but ${answer.status} ${answer.headers.get('location')}`);
    return code;
  };
}

/**
 * Returns a function for each operation, which prepares a number of calls and returns the function whose cost
 * is measured.
 */
export function operationsOf(
  stage: CostStage,
): Readonly<Record<string, (count: number) => Promise<Operation>>> {
  const { port, liveKeys, testKeys } = stage;
  const turns = new Map<readonly string[], number>();
  /** Returns the next API key in turn, because each key has its own rate limits. */
  const keyOf = (keys: readonly string[]): string => {
    const turn = turns.get(keys) ?? 0;
    turns.set(keys, turn + 1);
    return keys[turn % keys.length] ?? '';
  };
  const load = (
    requests: readonly RawRequest[],
    expected: string,
    callers: number,
    onBody?: (body: string) => void,
  ) => measureRate({ port, requests, expected, connections: callers }, onBody);
  const many = (count: number, one: () => RawRequest): RawRequest[] => Array.from({ length: count }, one);
  const api = (keys: readonly string[], path: string, body?: object): RawRequest =>
    rawRequest(
      port,
      path,
      { 'x-api-key': keyOf(keys), ...(body && { 'idempotency-key': randomUUID() }) },
      body,
    );

  const authorize = authorizations(stage);
  const codes = (count: number, callers: number) =>
    eachOf(
      Array.from({ length: count }, () => null),
      callers,
      authorize,
    );
  const tokens: string[] = [];
  const exchange = (code: string): RawRequest =>
    rawRequest(
      port,
      '/v1/oauth/token',
      {},
      {
        ...{ grant_type: 'authorization_code', code, redirect_uri: stage.redirectUri },
        ...{ client_id: stage.clientId, client_secret: stage.clientSecret },
      },
    );

  let testEndpoints = 1;
  const events = async (count: number): Promise<Operation> => {
    const event = { type: 'webhook.test' };
    const requests = many(count, () => api(testKeys, '/v1/partner/sandbox/events', event));
    return (_, callers) => load(requests, 'evt_', callers).then(stage.drained);
  };

  return {
    'authorization, signed in': async () => codes,
    'code exchange': async (count) => {
      const requests = (await codes(count, 8)).map(exchange);
      return (_, callers) =>
        load(requests, 'access_token', callers, (body) => tokens.push(JSON.parse(body).access_token));
    },
    userinfo: async (count) => {
      const requests = many(count, () => {
        const token = tokens[Math.floor(Math.random() * tokens.length)];
        return rawRequest(port, '/v1/oauth/userinfo', { authorization: `Bearer ${token}` });
      });
      return (_, callers) => load(requests, '"kid"', callers);
    },
    'verify a passport': async (count) => {
      // Get a new passport, since one is valid for five minutes only.
      const token = await stage.passport();
      const requests = many(count, () => api(liveKeys, '/v1/partner/verify', { token }));
      return (_, callers) => load(requests, '"valid":true', callers);
    },
    'look a user up': async (count) => {
      const requests = many(count, () => api(liveKeys, `/v1/partner/users/${stage.kid}`));
      return (_, callers) => load(requests, '"kid"', callers);
    },
    'payment, executed and delivered': async (count) => {
      const payment = { amount: '1.00', currency: 'HTG', recipient: { kid: stage.kid } };
      const requests = many(count, () => api(liveKeys, '/v1/partner/payments', payment));
      return (_, callers) => load(requests, '"pending"', callers).then(stage.drained);
    },
    'event, delivered to one endpoint': events,
    'event, delivered to ten endpoints': async (count) => {
      for (; testEndpoints < 10; testEndpoints += 1) await stage.addEndpoint(testKeys[0]);
      return events(count);
    },
  };
}

/** Measures the processor time and the SQL statements of one call, as the average of `count` calls. */
export async function costOf(
  stage: CostStage,
  operation: Operation,
  count: number,
  callers: number,
): Promise<Cost> {
  const before = await stage.spent();
  await operation(count, callers);
  const after = await stage.spent();
  const each = (what: keyof Cost, unit: number) => ((after[what] - before[what]) * unit) / count;
  return {
    ...{ web: each('web', 1_000), worker: each('worker', 1_000), database: each('database', 1_000) },
    statements: each('statements', 1),
  };
}
