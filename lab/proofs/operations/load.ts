import { randomUUID } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { type OpenLoop, openLoop } from '../../support/measure/open-loop.ts';
import type { Credentials } from './provision.ts';
import type { TransferReceiver } from './receiver.ts';

/** What began while one operation was under way. */
interface Tally {
  requests: number;
  readonly failures: string[];
}

/** Operations a second. */
export interface Rates {
  readonly userinfo: number;
  readonly exchange: number;
  readonly verify: number;
  readonly payment: number;
}

/** Nobody waits longer. */
const patienceMs = 10_000;

/** How long an app keeps the JWK Set; it does not ask again for a key that it does not know. */
const jwksMs = 3_000;

async function ask(url: string, init: RequestInit, expected: number): Promise<Record<string, unknown>> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
  const text = await response.text();
  if (response.status !== expected)
    throw new Error(`${new URL(url).pathname}: ${response.status} ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

/** Apps, users and partners that go on whatever is done to the servers. */
export class Load {
  /** Ids of transfers that were accepted. */
  readonly transfers: string[] = [];
  /** Keys that ID tokens were signed with, in their order. */
  readonly kids = new Set<string>();
  /** A token that was issued before anything else happened, and the latest one. */
  firstToken = '';
  #lastToken = '';
  readonly #authUrl: string;
  readonly #credentials: Credentials;
  readonly #receiver: TransferReceiver;
  readonly #tallies = new Map<string, Tally>();
  #tally: Tally = { requests: 0, failures: [] };
  #loops: OpenLoop[] = [];
  #turn = 0;
  #jwks: { readonly set: ReturnType<typeof createLocalJWKSet>; readonly at: number } | null = null;

  constructor(authUrl: string, credentials: Credentials, receiver: TransferReceiver) {
    this.#authUrl = authUrl;
    this.#credentials = credentials;
    this.#receiver = receiver;
  }

  /** Whether the partner knows that a transfer is completed. */
  isTold(transfer: string): boolean {
    return this.#receiver.completed.has(transfer);
  }

  tallyOf(name: string): Readonly<Tally> {
    return this.#tallies.get(name) ?? { requests: 0, failures: [] };
  }

  /** From now on everything belongs to this operation. */
  begin(name: string): void {
    this.#tally = { requests: 0, failures: [] };
    this.#tallies.set(name, this.#tally);
  }

  async start(rates: Rates): Promise<void> {
    await this.exchange();
    const kinds = {
      userinfo: () => this.userinfo(this.#turn % 2 === 0 ? this.firstToken : this.#lastToken),
      exchange: () => this.exchange(),
      verify: () => this.verify(),
      payment: () => this.pay(),
    };
    for (const [kind, work] of Object.entries(kinds)) {
      const rate = rates[kind as keyof Rates];
      const counted = (): Promise<void> => {
        this.#turn += 1;
        // What an operation breaks is its own, also when the answer comes when the next one has begun.
        const tally = this.#tally;
        tally.requests += 1;
        return work().catch((error: unknown) => {
          tally.failures.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
        });
      };
      this.#loops.push(
        openLoop(
          () => rate,
          counted,
          () => undefined,
        ),
      );
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.splice(0).map((loop) => loop.stop()));
  }

  async userinfo(token: string): Promise<void> {
    const answer = await ask(
      `${this.#authUrl}/v1/oauth/userinfo`,
      { headers: { authorization: `Bearer ${token}` } },
      200,
    );
    if (typeof answer.kid !== 'string') throw new Error('userinfo without a user');
  }

  /** A user who is signed in comes from the app and goes back to it with a code; every third one is asked for consent. */
  async exchange(): Promise<void> {
    const { clientId, redirectUri, clientSecrets, browser } = this.#credentials;
    const url = new URL(`${this.#authUrl}/oauth/authorize`);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid profile',
      state: 's',
      nonce: 'n',
      ...(this.#turn % 3 === 0 && { prompt: 'consent' }),
    }).toString();
    const isApp = (location: string): boolean => location.startsWith(redirectUri);
    let page = await browser.follow(await browser.open(url.href), isApp);
    const form = page.forms.find(({ buttons }) => buttons.some(({ value }) => value === 'approve'));
    if (form !== undefined)
      page = await browser.follow(await browser.submit(page, form, { decision: 'approve' }), isApp);
    const code = page.location === null ? null : new URL(page.location).searchParams.get('code');
    if (code === null) throw new Error(`no code but ${page.status} at ${new URL(page.url).pathname}`);
    const answer = await ask(
      `${this.#authUrl}/v1/oauth/token`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          grant_type: 'authorization_code',
          code,
          redirect_uri: redirectUri,
          client_id: clientId,
          client_secret: clientSecrets[this.#turn % clientSecrets.length],
        }),
      },
      200,
    );
    const { protectedHeader } = await jwtVerify(String(answer.id_token), await this.#keys(), {
      issuer: this.#authUrl,
      audience: clientId,
    });
    this.kids.add(String(protectedHeader.kid));
    this.#lastToken = String(answer.access_token);
    if (this.firstToken === '') this.firstToken = this.#lastToken;
  }

  async verify(): Promise<void> {
    const page = await this.#credentials.browser.open(`${this.#authUrl}/passport`);
    const token = /id="token"[^>]*>([^<]+)</.exec(page.html)?.[1];
    if (token === undefined) throw new Error(`no passport but ${page.status}`);
    const answer = await ask(`${this.#authUrl}/v1/partner/verify`, this.#post({ token }), 200);
    if (answer.valid !== true) throw new Error('a passport that is not valid');
  }

  async pay(): Promise<void> {
    const payment = { amount: '1.00', currency: 'HTG', recipient: { kid: this.#credentials.recipientKid } };
    const transfer = await ask(`${this.#authUrl}/v1/partner/payments`, this.#post(payment), 201);
    this.transfers.push(String(transfer.id));
  }

  /** @throws Error unless the API knows a transfer */
  async knows(transfer: string): Promise<void> {
    const { headers } = this.#post(null);
    await ask(`${this.#authUrl}/v1/partner/payments/${transfer}`, { headers: headers ?? {} }, 200);
  }

  #post(body: unknown): RequestInit {
    const { apiKeys } = this.#credentials;
    const { keys = [] } = apiKeys[this.#turn % apiKeys.length] ?? {};
    return {
      method: 'POST',
      headers: {
        'x-api-key': keys[this.#turn % keys.length] ?? '',
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: JSON.stringify(body),
    };
  }

  async #keys(): Promise<ReturnType<typeof createLocalJWKSet>> {
    const now = performance.now();
    if (this.#jwks === null || now - this.#jwks.at > jwksMs) {
      const set = (await ask(`${this.#authUrl}/.well-known/jwks.json`, {}, 200)) as unknown as JSONWebKeySet;
      this.#jwks = { set: createLocalJWKSet(set), at: now };
    }
    return this.#jwks.set;
  }
}
