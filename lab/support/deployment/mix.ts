import { randomUUID } from 'node:crypto';
import { authorizePath, type RemoteClient } from '../browser/remote-flow.ts';
import { jsonPost } from '../http.ts';

/** Kinds of operations that users, apps and partners make. */
export const kinds = ['userinfo', 'exchange', 'verify', 'payment'] as const;
export type Kind = (typeof kinds)[number];

/** Credentials of apps and partners. A rotation replaces them with new credentials. */
export interface Credentials {
  readonly client: RemoteClient;
  /** Valid secrets of the OAuth client; apps use the secrets in turns. */
  clientSecrets: readonly string[];
  /** Valid API keys, by the id under which each was issued. Each key has its own rate limits. */
  apiKeys: readonly { readonly id: string; readonly keys: readonly string[] }[];
  readonly users: readonly { readonly sub: string; readonly kid: string }[];
}

/** Partner whose API keys the operations use on a deployment of the reference server. */
export const partner = 'kafe-lakay';

/** Parts of the operations that depend on the servers. */
interface Ways {
  /** Origins of the web processes or of the load balancer; requests go to each in turn. */
  readonly origins: readonly string[];
  /** Maximum wait for a response, in milliseconds. */
  readonly patienceMs: number;
  /** Opens an authorization URL as a user. Returns the URL of the callback. */
  authorize(url: string, sub: string): Promise<string>;
  /** Returns a passport, as a user shows it to a partner. */
  passport(): string | Promise<string>;
  /** Handles an ID token as an app does. @throws Error if the token is wrong */
  accept?(idToken: string): Promise<void>;
}

/** Number of access tokens to keep for userinfo requests. */
const tokenCount = 1_000;

/** Operations of users, apps and partners. Each operation resolves once its result is there. */
export class Mix implements Readonly<Record<Kind, () => Promise<void>>> {
  /** Ids of transfers that were accepted. */
  readonly transfers: string[] = [];
  readonly #credentials: Credentials;
  readonly #ways: Ways;
  readonly #tokens: string[] = [];
  readonly #turns = new Map<string, number>();

  constructor(credentials: Credentials, ways: Ways) {
    this.#credentials = credentials;
    this.#ways = ways;
  }

  /** Returns the oldest of the kept access tokens. */
  get firstToken(): string {
    return this.#tokens[0] ?? '';
  }

  async userinfo(token = this.#next('token', this.#tokens)): Promise<void> {
    const answer = await this.#ask(
      '/v1/oauth/userinfo',
      { headers: { authorization: `Bearer ${token}` } },
      200,
    );
    if (typeof answer.kid !== 'string') throw new Error('userinfo without a user');
  }

  /** Sends a signed-in user from the app to the provider and back with a code, which the app exchanges. */
  async exchange(): Promise<void> {
    const { client, clientSecrets, users } = this.#credentials;
    const origin = this.#next('origin', this.#ways.origins);
    const url = `${origin}${authorizePath(client, { nonce: 'n' })}`;
    const location = await this.#ways.authorize(url, this.#next('user', users)?.sub ?? '');
    const code = location.startsWith(client.redirectUri) ? new URL(location).searchParams.get('code') : null;
    if (code === null) throw new Error(`no code but ${location.slice(0, 160)}`);
    const request = {
      ...{ grant_type: 'authorization_code', code, redirect_uri: client.redirectUri },
      ...{ client_id: client.id, client_secret: this.#next('secret', clientSecrets) },
    };
    const answer = await this.#ask('/v1/oauth/token', jsonPost(request), 200);
    await this.#ways.accept?.(String(answer.id_token));
    // Keep the first token for ever, for `firstToken`.
    this.#tokens[this.#tokens.length === 0 ? 0 : 1 + (this.#turnOf('exchange') % tokenCount)] = String(
      answer.access_token,
    );
  }

  async verify(): Promise<void> {
    const token = await this.#ways.passport();
    const answer = await this.#post('/v1/partner/verify', { token }, 200);
    if (answer.valid !== true) throw new Error('a passport that is not valid');
  }

  async payment(): Promise<void> {
    const kid = this.#next('recipient', this.#credentials.users)?.kid;
    const payment = { amount: '1.00', currency: 'HTG', recipient: { kid } };
    const { id } = await this.#post('/v1/partner/payments', payment, 201);
    this.transfers.push(String(id));
  }

  /** Checks that the API knows a transfer. @throws Error if the transfer is unknown */
  async knows(transfer: string): Promise<void> {
    await this.#ask(
      `/v1/partner/payments/${transfer}`,
      { headers: { 'x-api-key': this.#key('payment') } },
      200,
    );
  }

  /** Returns and increments the number of requests for items of one kind. */
  #turnOf(what: string): number {
    const turn = this.#turns.get(what) ?? 0;
    this.#turns.set(what, turn + 1);
    return turn;
  }

  /** Returns the next item of a list, in turns. */
  #next<Item>(what: string, items: readonly Item[]): Item | undefined {
    return items[this.#turnOf(what) % items.length];
  }

  /**
   * Returns the next API key for a call. Each kind of call takes its own turns, because every key has a rate
   * limit for each kind.
   */
  #key(call: string): string {
    const shop = this.#next(`shop that calls ${call}`, this.#credentials.apiKeys);
    return this.#next(`key for ${call}`, shop?.keys ?? []) ?? '';
  }

  #post(path: string, body: unknown, expected: number): Promise<Record<string, unknown>> {
    const headers = { 'x-api-key': this.#key(path), 'idempotency-key': randomUUID() };
    return this.#ask(path, jsonPost(body, headers), expected);
  }

  async #ask(path: string, init: RequestInit, expected: number): Promise<Record<string, unknown>> {
    const { origins, patienceMs } = this.#ways;
    const signal = AbortSignal.timeout(patienceMs);
    const response = await fetch(this.#next('origin', origins) + path, { ...init, signal });
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`);
    return JSON.parse(text);
  }
}
