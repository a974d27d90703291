import { randomUUID } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request as send } from 'node:http';

/** What people, apps and partners do. */
export const kinds = ['userinfo', 'exchange', 'verify', 'payment'] as const;
export type Kind = (typeof kinds)[number];

/** What the load is made with. */
export interface LoadSettings {
  readonly receiverPort: number;
  /** Web processes, which are asked in turns. */
  readonly ports: readonly number[];
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  /** Users who have consented. */
  readonly users: readonly { readonly sub: string; readonly kid: string }[];
}

/** An answer that comes later than this is an error: nobody is there any more. */
const patienceMs = 1_000;

/** Tokens that are kept for userinfo. */
const tokenCount = 1_000;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends requests to processes in turns, over connections that are kept. */
function createSender(ports: readonly number[]): (request: Request) => Promise<Answer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256, maxFreeSockets: 256, timeout: 4_000 });
  let turn = 0;
  return ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      turn += 1;
      const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
      const json =
        bytes === null ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) };
      const sent = send({
        ...{ agent, method, path, host: '127.0.0.1', port: ports[turn % ports.length] },
        headers: { ...headers, ...json },
        signal: AbortSignal.timeout(patienceMs),
      });
      sent.once('error', (error) =>
        reject(error.name === 'AbortError' ? new Error(`no answer within ${patienceMs} ms`) : error),
      );
      sent.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          text += part;
        });
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.once('error', reject);
      });
      sent.end(bytes ?? undefined);
    });
}

function expect({ status, text }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`${status} ${text.slice(0, 160)}`);
}

/** The operations of the mix, each resolved when it has what it wanted. */
export type Acts = Readonly<Record<Kind, () => Promise<void>>> & {
  /** Ids of transfers that were accepted. */
  readonly transfers: ReadonlySet<string>;
  takePassports(fresh: readonly string[]): void;
};

export function createActs(settings: LoadSettings): Acts {
  const { clientId, clientSecret, redirectUri, apiKey, users } = settings;
  const ask = createSender(settings.ports);
  const transfers = new Set<string>();
  const tokens: string[] = [];
  let passports: readonly string[] = [];
  let turn = 0;
  const next = (count: number): number => {
    turn += 1;
    return turn % count;
  };
  const post = (path: string, body: unknown): Promise<Answer> =>
    ask({
      ...{ method: 'POST', path, body },
      headers: { 'x-api-key': apiKey, 'idempotency-key': randomUUID() },
    });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid profile kyc',
    state: 's',
  });

  return {
    transfers,
    takePassports(fresh) {
      passports = fresh;
    },
    async userinfo() {
      const token = tokens[next(tokens.length)] ?? '';
      const headers = { authorization: `Bearer ${token}` };
      expect(await ask({ method: 'GET', path: '/v1/oauth/userinfo', headers }), 200);
    },
    /** A user who has consented before is sent to the provider, comes back with a code, and the app redeems it. */
    async exchange() {
      const user = users[next(users.length)];
      const headers = { accept: 'text/html', cookie: `host=${user?.sub ?? ''}` };
      const back = await ask({ method: 'GET', path: `/oauth/authorize?${query}`, headers });
      const { location = '' } = back.headers;
      const code = location.startsWith(redirectUri) ? new URL(location).searchParams.get('code') : null;
      if (code === null) throw new Error(`no code but ${back.status} ${location.slice(0, 160)}`);
      const answer = await ask({
        ...{ method: 'POST', path: '/v1/oauth/token', headers: {} },
        body: {
          grant_type: 'authorization_code',
          ...{ code, redirect_uri: redirectUri, client_id: clientId, client_secret: clientSecret },
        },
      });
      expect(answer, 200);
      const token = String(JSON.parse(answer.text).access_token);
      if (tokens.length < tokenCount) tokens.push(token);
      else tokens[next(tokenCount)] = token;
    },
    async verify() {
      const answer = await post('/v1/partner/verify', { token: passports[next(passports.length)] });
      expect(answer, 200);
    },
    async payment() {
      const user = users[next(users.length)];
      const payment = { amount: '1.00', currency: 'HTG', recipient: { kid: user?.kid } };
      const answer = await post('/v1/partner/payments', payment);
      expect(answer, 201);
      transfers.add(String(JSON.parse(answer.text).id));
    },
  };
}
