import { setTimeout } from 'node:timers/promises';
import type { KilledProcess } from '../../support/processes/killed-process.ts';
import { amountOf, expectedOf } from './model.ts';
import type { PlannedPayment } from './schedule.ts';

/** A definite answer of the server. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** What a client saw of one payment. */
export interface Outcome {
  /** One for each request; requests that ended without an answer were sent again. */
  readonly answers: readonly Answer[];
  /** The answer to the key with another payload, if that was tried. */
  readonly reused: Answer | null;
}

/** How often nobody answered, or the server could not: what a client retries. */
export interface Troubles {
  cutOff: number;
  unavailable: number;
}

const patienceMs = 60_000;

/** A partner's client: sends requests with its key until there is a definite answer. */
export class Client {
  readonly troubles: Troubles = { cutOff: 0, unavailable: 0 };
  readonly #server: KilledProcess;
  readonly #key: string;
  readonly #kids: readonly string[];

  constructor(server: KilledProcess, key: string, kids: readonly string[]) {
    this.#server = server;
    this.#key = key;
    this.#kids = kids;
  }

  /** Sends a request until it is answered, whichever process answers. @throws Error after a minute without an answer */
  async send(path: string, init: RequestInit = {}): Promise<Answer> {
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      const origin = await this.#server.origin;
      try {
        const response = await fetch(origin + path, {
          ...init,
          headers: { 'x-api-key': this.#key, ...init.headers },
          signal: AbortSignal.timeout(10_000),
        });
        const body = await response.text();
        if (response.status < 500) return { status: response.status, body };
        this.troubles.unavailable += 1;
      } catch {
        this.troubles.cutOff += 1;
      }
      await setTimeout(10);
    }
    throw new Error(`${path} was not answered`);
  }

  /** Makes a payment as it is planned. */
  async pay(payment: PlannedPayment, index: number): Promise<Outcome> {
    const post = (amount: string): Promise<Answer> =>
      this.send('/v1/partner/payments', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': `payment-${index}` },
        body: JSON.stringify({
          amount,
          currency: payment.currency,
          recipient: { kid: payment.kind === 'nobody' ? 'NOBODY' : this.#kids[payment.recipient] },
          description: `Payment ${index}`,
        }),
      });
    const amount = amountOf(payment);
    // What was refused is not remembered: its key may come with anything.
    const isStored = expectedOf(payment).status === 201;
    const answers = await Promise.all(Array.from({ length: payment.together }, () => post(amount)));
    for (let retry = 0; retry < payment.retries; retry += 1) answers.push(await post(amount));
    return { answers, reused: isStored && payment.reused ? await post('0.01') : null };
  }

  /** Every transfer that the API lists, page by page. */
  async transfers(): Promise<ListedTransfer[]> {
    const all: ListedTransfer[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({ limit: '100', ...(cursor === '' ? {} : { cursor }) });
      const { status, body } = await this.send(`/v1/partner/payments?${query}`);
      if (status !== 200) throw new Error(`the list was answered with ${status}: ${body}`);
      const page = JSON.parse(body) as { data: ListedTransfer[]; nextCursor: string | null };
      all.push(...page.data);
      cursor = page.nextCursor;
    }
    return all;
  }

  /** Resolves when no transfer is pending any more. @throws Error when that takes longer than a minute */
  async settled(): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (performance.now() < deadline) {
      const { body } = await this.send('/v1/partner/payments?status=pending&limit=1');
      if ((JSON.parse(body) as { data: unknown[] }).data.length === 0) return;
      await setTimeout(50);
    }
    throw new Error('transfers stay pending');
  }
}

/** A transfer as the API lists it. */
export interface ListedTransfer {
  readonly id: string;
  readonly status: string;
  readonly amount: string;
  readonly currency: string;
  readonly recipient: { readonly kid: string };
  readonly description: string;
}
