import { setTimeout } from 'node:timers/promises';
import { seeded } from '../../support/arguments.ts';
import { authorizePath, csrfOf } from '../../support/browser/remote-flow.ts';
import type { Stage } from '../../support/processes/stage.ts';
import { Client } from './client.ts';
import { type Payment, type PublishedEvent, Tally } from './tally.ts';

/** Clients of each kind. */
export interface LoadSize {
  readonly payers: number;
  readonly publishers: number;
  readonly exchangers: number;
  /** Between two requests of a client, on average. */
  readonly pauseMs: number;
}

type Work = (this: Load, client: Client, index: number, random: () => number) => Promise<void>;

/** Clients that go on whatever happens: payments, test events, sign-ins. */
export class Load {
  readonly payments: Payment[] = [];
  readonly events: PublishedEvent[] = [];
  /** Codes that were exchanged for a token. */
  exchanges = 0;
  readonly tallies = new Map<string, Tally>();
  readonly #stage: Stage;
  readonly #seed: number;
  readonly #size: LoadSize;
  #fault = '';
  #isRunning = true;
  readonly #abandoned = new AbortController();
  #clients: Promise<void>[] = [];
  #count = 0;

  constructor(stage: Stage, seed: number, size: LoadSize) {
    this.#stage = stage;
    this.#seed = seed;
    this.#size = size;
  }

  /** From now on everything belongs to this fault. */
  begin(fault: string): void {
    this.#fault = fault;
    if (!this.tallies.has(fault)) this.tallies.set(fault, new Tally());
  }

  start(): void {
    const { payers, publishers, exchangers } = this.#size;
    const kinds = [
      ...Array.from({ length: payers }, () => this.#pay),
      ...Array.from({ length: publishers }, () => this.#publish),
      ...Array.from({ length: exchangers }, () => this.#exchange),
    ];
    this.#clients = kinds.map((work, index) => this.#goOn(index, work));
  }

  /** Resolves when every client has a definite answer to what it asked last. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await Promise.all(this.#clients);
  }

  /** Gives up, whatever clients wait for. */
  async abandon(): Promise<void> {
    this.#isRunning = false;
    this.#abandoned.abort();
    await Promise.allSettled(this.#clients);
  }

  /** One payment by itself; answers its key. */
  async payOnce(origin: string): Promise<string | null> {
    const payment = this.#payment();
    const answer = await this.client(0).once(
      origin,
      '/v1/partner/payments',
      this.#paymentRequest(payment.key),
    );
    this.#paid(payment, answer);
    return answer?.status === 201 ? payment.key : null;
  }

  client(turn: number): Client {
    return new Client(this.#stage.cluster.webs, () => this.#tally, turn, this.#abandoned.signal);
  }

  get #tally(): Tally {
    const tally = this.tallies.get(this.#fault);
    if (tally === undefined) throw new Error('nothing has begun');
    return tally;
  }

  async #goOn(index: number, work: Work): Promise<void> {
    const random = seeded(this.#seed + index);
    const client = this.client(index);
    while (this.#isRunning) {
      await work.call(this, client, index, random);
      await setTimeout(2 * random() * this.#size.pauseMs);
    }
  }

  #payment(): Payment {
    this.#count += 1;
    const payment = { key: `payment ${this.#count}.`, fault: this.#fault, transferId: null };
    this.payments.push(payment);
    return payment;
  }

  #paymentRequest(key: string): RequestInit {
    return {
      method: 'POST',
      headers: {
        'x-api-key': this.#stage.keys.live,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ amount: '1.00', currency: 'USD', recipient: { kid: 'ana' }, description: key }),
    };
  }

  #paid(payment: Payment, answer: { readonly status: number; readonly text: string } | null): void {
    if (answer === null || answer.status === 503) return;
    if (answer.status === 201) payment.transferId = JSON.parse(answer.text).id;
    else this.#tally.wrong.push(`a payment: ${answer.status} ${answer.text}`);
  }

  async #pay(client: Client, _index: number, random: () => number): Promise<void> {
    const payment = this.#payment();
    const request = this.#paymentRequest(payment.key);
    this.#paid(payment, await client.send('/v1/partner/payments', request));
    // Some clients repeat what was answered already.
    if (random() < 0.2) this.#paid(payment, await client.send('/v1/partner/payments', request));
  }

  async #publish(client: Client): Promise<void> {
    this.#count += 1;
    const event: PublishedEvent = { key: `event ${this.#count}.`, fault: this.#fault, eventId: null };
    this.events.push(event);
    const { status, text } = await client.send('/v1/partner/sandbox/events', {
      method: 'POST',
      headers: {
        'x-api-key': this.#stage.keys.test,
        'content-type': 'application/json',
        'idempotency-key': event.key,
      },
      body: JSON.stringify({ type: 'webhook.test', data: { message: event.key } }),
    });
    if (status === 201) event.eventId = JSON.parse(text).id;
    else this.#tally.wrong.push(`an event: ${status} ${text}`);
  }

  async #exchange(client: Client, index: number): Promise<void> {
    const { client: app } = this.#stage;
    const code = await this.#code(client, `user-${index}`);
    if (code === null) return;
    const answer = await client.send('/v1/oauth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        grant_type: 'authorization_code',
        code,
        redirect_uri: app.redirectUri,
        client_id: app.id,
        client_secret: app.secret,
      }),
    });
    // A code whose first exchange nobody heard of is used, and its token dead: the user signs in again.
    const isUsed = answer.inDoubt > 0 && answer.status === 400 && answer.text.includes('invalid_grant');
    if (answer.status === 200) this.exchanges += 1;
    else if (!isUsed) this.#tally.wrong.push(`an exchange: ${answer.status} ${answer.text}`);
  }

  /** Walks through the pages; `null` when it has to begin again because a step's first answer got lost. */
  async #code(client: Client, sub: string): Promise<string | null> {
    const cookies = new Map([['host', { pair: `host=${sub}`, path: '/' }]]);
    const visit = async (path: string, form?: { readonly [name: string]: string }) => {
      const sent = [...cookies.values()].filter((cookie) => path.startsWith(cookie.path));
      const answer = await client.send(path, {
        method: form === undefined ? 'GET' : 'POST',
        headers: { accept: 'text/html', cookie: sent.map(({ pair }) => pair).join('; ') },
        ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      });
      for (const line of answer.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        const cookiePath = /path=([^;]*)/i.exec(line)?.[1] ?? '/';
        cookies.set(`${pair.split('=')[0]} ${cookiePath}`, { pair, path: cookiePath });
      }
      const location = answer.headers.get('location') ?? '';
      const own = URL.canParse(location) ? new URL(location) : null;
      return { ...answer, url: own, path: own === null ? location : own.pathname };
    };
    let step = await visit(authorizePath(this.#stage.client));
    let inDoubt = step.inDoubt;
    if (step.path.startsWith('/oauth/interaction/')) {
      const page = step.path;
      const { text, inDoubt: asked } = await visit(page);
      const answered = await visit(page, { csrf: csrfOf(text), decision: 'approve' });
      step = await visit(answered.path);
      inDoubt += asked + answered.inDoubt + step.inDoubt;
    }
    const code = step.url?.searchParams.get('code') ?? null;
    if (code === null && inDoubt === 0)
      this.#tally.wrong.push(`a sign-in: ${step.status} ${step.text.slice(0, 200)}`);
    return code;
  }
}
