import { setTimeout } from 'node:timers/promises';
import { seeded } from '../arguments.ts';
import { authorizePath, codeFrom, RoamingBrowser } from '../browser/remote-flow.ts';
import { jsonPost } from '../http.ts';
import { authUrl } from '../processes/cluster-options.ts';
import type { Stage } from '../processes/stage.ts';
import { type Answer, Client, Tally } from './client.ts';

/** Number of clients of each kind in the load. */
export interface LoadSize {
  readonly payers: number;
  readonly publishers: number;
  readonly exchangers: number;
  /** Number of clients that verify passports. @defaultValue 0 */
  readonly verifiers?: number;
  /**
   * Number of clients that revoke tokens, and of clients that present revoked tokens to every web process.
   * @defaultValue 0
   */
  readonly revokers?: number;
  /** Average pause between two requests of a client, in milliseconds. */
  readonly pauseMs: number;
}

/** A payment or test event that a client requested, with or without a response so far. */
interface Asked {
  /** `Idempotency-Key` of the request, which is also its description or message. */
  readonly key: string;
  /** Fault that was active when the request was made. */
  readonly fault: string;
  /** Id of the created transfer or event, from the response; `null` until a response arrives. */
  id: string | null;
}

/** Servers and credentials that the clients of the load use. */
type LoadedStage = Pick<Stage, 'cluster' | 'client' | 'keys'>;

type Work = (this: Load, client: Client, index: number, random: () => number) => Promise<void>;

/** Builds the header with which an app presents an access token. */
export const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

const paymentsPath = '/v1/partner/payments';
const userinfoPath = '/v1/oauth/userinfo';

/**
 * Pause of a client after each test event, in milliseconds. A worker makes ten attempts a second for a partner in test mode,
 * and each event goes to two endpoints: with more events, some would still wait when the load ends.
 */
const publishPauseMs = 700;

/**
 * Clients that keep working through every fault: they pay, trigger test events, sign users in, revoke tokens and
 * verify passports.
 */
export class Load {
  readonly payments: Asked[] = [];
  readonly events: Asked[] = [];
  /** Access tokens of the clients that exchange codes. No client revokes these tokens. */
  readonly tokens: string[] = [];
  /** Access tokens whose revocation was acknowledged. */
  readonly revoked: string[] = [];
  /** Number of responses that accepted a revoked token. */
  acceptedRevoked = 0;
  readonly tallies = new Map<string, Tally>();
  readonly #stage: LoadedStage;
  readonly #seed: number;
  readonly #size: LoadSize;
  #fault = '';
  #isRunning = true;
  readonly #abandoned = new AbortController();
  #clients: Promise<void>[] = [];
  #count = 0;

  constructor(stage: LoadedStage, seed: number, size: LoadSize) {
    this.#stage = stage;
    this.#seed = seed;
    this.#size = size;
  }

  /** Attributes all requests from now on to a fault. */
  begin(fault: string): void {
    this.#fault = fault;
    if (!this.tallies.has(fault)) this.tallies.set(fault, new Tally());
  }

  /** Lets each user approve the consent page once; then starts the clients. */
  async start(): Promise<void> {
    const { payers, publishers, exchangers, verifiers = 0, revokers = 0 } = this.#size;
    const { cluster, client } = this.#stage;
    const origins = cluster.webs.map(({ origin }) => origin);
    const signingIn = payers + publishers + exchangers + revokers;
    for (let index = payers + publishers; index < signingIn; index += 1)
      await codeFrom(origins, new RoamingBrowser(authUrl, `user-${index}`), authorizePath(client));
    const kinds = [
      ...Array.from({ length: payers }, () => this.#pay),
      ...Array.from({ length: publishers }, () => this.#publish),
      ...Array.from({ length: exchangers }, () => this.#exchange),
      ...Array.from({ length: revokers }, () => this.#revoke),
      ...Array.from({ length: revokers }, () => this.#presentRevoked),
      ...Array.from({ length: verifiers }, () => this.#verify),
    ];
    this.#clients = kinds.map((work, index) => this.#goOn(index, work));
  }

  /** Resolves when every client has a definite response to its last request. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#clients);
  }

  /** Stops all clients before their next attempt, even if they have no definite response yet. */
  async abandon(): Promise<void> {
    this.#isRunning = false;
    this.#abandoned.abort();
    await Promise.allSettled(this.#clients);
  }

  /**
   * Sends a single payment request without a retry, and returns its idempotency key; `null` if the payment
   * failed.
   */
  async payOnce(origin: string): Promise<string | null> {
    const payment = this.#ask('payment', this.payments);
    const answer = await this.#client(0).once(origin, paymentsPath, this.#paymentOf(payment));
    if (answer !== null && answer.status !== 503) this.#answered(payment, answer);
    return answer?.status === 201 ? payment.key : null;
  }

  #client(turn: number): Client {
    return new Client(this.#stage.cluster.webs, () => this.#tally, turn, this.#abandoned.signal);
  }

  get #tally(): Tally {
    const tally = this.tallies.get(this.#fault);
    if (tally === undefined) throw new Error('nothing has begun');
    return tally;
  }

  async #goOn(index: number, work: Work): Promise<void> {
    const random = seeded(this.#seed + index);
    const client = this.#client(index);
    while (this.#isRunning) {
      await work.call(this, client, index, random);
      await setTimeout(2 * random() * this.#size.pauseMs);
    }
  }

  #ask(what: string, all: Asked[]): Asked {
    this.#count += 1;
    const asked = { key: `${what} ${this.#count}.`, fault: this.#fault, id: null };
    all.push(asked);
    return asked;
  }

  #answered(asked: Asked, { status, text }: Pick<Answer, 'status' | 'text'>): void {
    const { id } = JSON.parse(text);
    if (status !== 201 || (asked.id !== null && asked.id !== id))
      this.#tally.wrong.push(`${asked.key} ${status} ${text}, and before: ${asked.id}`);
    else asked.id = id;
  }

  #paymentOf({ key }: Asked): RequestInit {
    const payment = { amount: '1.00', currency: 'USD', recipient: { kid: 'ana' }, description: key };
    return jsonPost(payment, { 'x-api-key': this.#stage.keys.live, 'idempotency-key': key });
  }

  async #pay(client: Client, _index: number, random: () => number): Promise<void> {
    const payment = this.#ask('payment', this.payments);
    const request = this.#paymentOf(payment);
    this.#answered(payment, await client.send(paymentsPath, request));
    // Sometimes repeat a request that already got its response.
    if (random() < 0.2) this.#answered(payment, await client.send(paymentsPath, request));
  }

  async #publish(client: Client): Promise<void> {
    const event = this.#ask('event', this.events);
    const body = { type: 'webhook.test', data: { message: event.key } };
    const headers = { 'x-api-key': this.#stage.keys.test, 'idempotency-key': event.key };
    this.#answered(event, await client.send('/v1/partner/sandbox/events', jsonPost(body, headers)));
    await setTimeout(publishPauseMs);
  }

  /**
   * Signs a user in. Returns the access token; `null` if there is none: because the response to an earlier
   * exchange was lost, or because of a wrong response, which is recorded.
   */
  async #signIn(client: Client, index: number): Promise<string | null> {
    const { id, secret, redirectUri } = this.#stage.client;
    // Set the header as a balancer would: a request for another host is redirected.
    const forwarded = { 'x-forwarded-host': new URL(authUrl).host };
    const headers = { ...forwarded, accept: 'text/html', cookie: `host=user-${index}` };
    const authorized = await client.send(authorizePath(this.#stage.client), { headers });
    const location = authorized.headers.get('location') ?? '';
    const code = URL.canParse(location) ? new URL(location).searchParams.get('code') : null;
    if (code === null) {
      this.#tally.wrong.push(`a sign-in: ${authorized.status} ${authorized.text.slice(0, 200)}`);
      return null;
    }
    const answer = await client.send(
      '/v1/oauth/token',
      jsonPost({
        ...{ grant_type: 'authorization_code', code },
        ...{ redirect_uri: redirectUri, client_id: id, client_secret: secret },
      }),
    );
    // If the response to the first exchange was lost, the code is used and its token revoked, so the user
    // signs in again.
    const isUsed = answer.inDoubt > 0 && answer.status === 400 && answer.text.includes('invalid_grant');
    if (isUsed) return null;
    if (answer.status !== 200) {
      this.#tally.wrong.push(`an exchange: ${answer.status} ${answer.text}`);
      return null;
    }
    return JSON.parse(answer.text).access_token;
  }

  async #exchange(client: Client, index: number): Promise<void> {
    const token = await this.#signIn(client, index);
    if (token === null) return;
    this.tokens.push(token);
    // Use another process, which must know the token, too.
    const { status, text } = await client.send(userinfoPath, bearer(token));
    if (status !== 200) this.#tally.wrong.push(`userinfo: ${status} ${text}`);
  }

  async #revoke(client: Client, index: number): Promise<void> {
    const token = await this.#signIn(client, index);
    if (token === null) return;
    const { id, secret } = this.#stage.client;
    const request = jsonPost({ token, client_id: id, client_secret: secret });
    const { status, text } = await client.send('/v1/oauth/revoke', request);
    if (status === 200) this.revoked.push(token);
    else this.#tally.wrong.push(`a revocation: ${status} ${text}`);
  }

  /** Presents the last revoked token, and a random one of all revoked tokens, to every web process. */
  async #presentRevoked(client: Client, _index: number, random: () => number): Promise<void> {
    const tokens = [this.revoked.at(-1), this.revoked[Math.floor(random() * this.revoked.length)]];
    for (const token of tokens.filter((one) => one !== undefined))
      for (const { origin } of this.#stage.cluster.webs) {
        const answer = await client.once(origin, userinfoPath, bearer(token));
        if (answer?.status === 200) this.acceptedRevoked += 1;
      }
  }

  async #verify(client: Client): Promise<void> {
    const headers = { 'x-api-key': this.#stage.keys.test };
    const minted = await client.send('/v1/partner/sandbox/passports', jsonPost({}, headers));
    const { token } = JSON.parse(minted.text);
    const { status, text } = await client.send('/v1/partner/verify', jsonPost({ token }, headers));
    if (status !== 200) this.#tally.wrong.push(`a passport: ${status} ${text}`);
  }
}
