import { AsyncLocalStorage } from 'node:async_hooks';
import {
  maxKeptBody,
  type ReadDocument,
  type WebhookClient,
  type WebhookRequest,
} from '@ostiary/core/internal';
import { type CapturedDelivery, captured, type Writable } from './delivery.ts';
import type { DeliveryEffect } from './faults.ts';
import type { Plans } from './plans.ts';

/**
 * Code that receives deliveries at a URL.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const receiver: Receiver = async (request) => {
 *   console.log(await request.text());
 *   return new Response(null, { status: 204 });
 * };
 * await kit.webhooks.register('https://shop.example/webhooks', { receiver });
 * ```
 */
export type Receiver = (request: Request) => Response | Promise<Response>;

/**
 * Time limit for the response to a webhook, and for the response with a document of a client, in milliseconds
 * of real time.
 */
const deadlineMs = 10_000;

const delivering = new AsyncLocalStorage<true>();

/**
 * Refuses a call inside a webhook receiver that would wait for the receiver itself. @throws Error inside a
 * receiver
 */
export function refuseInsideReceiver(): void {
  if (delivering.getStore() !== true) return;
  throw new Error('a receiver cannot wait for due work, its own delivery is part of it; answer first');
}

type Answer = NonNullable<Awaited<ReturnType<WebhookClient['post']>>>;

const noAnswer = (error: NonNullable<Answer['error']>): Answer => ({
  ok: false,
  httpStatus: null,
  error,
  response: null,
  durationMs: 0,
});

function answerWith(status: number, body: ArrayBuffer = new ArrayBuffer()): Answer {
  const ok = status >= 200 && status < 300;
  const error = status >= 300 && status < 400 ? 'redirect' : 'status';
  return {
    ok,
    httpStatus: status,
    error: ok ? null : error,
    response: Buffer.from(body).toString('utf8', 0, maxKeptBody).replaceAll('\u0000', '\ufffd'),
    durationMs: 0,
  };
}

async function withinDeadline<Value>(work: Promise<Value>): Promise<Value | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), deadlineMs);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

interface Waiting {
  readonly request: WebhookRequest;
  /** True if a fault has already moved the webhook behind the next one. */
  isMoved: boolean;
  readonly settle: (answer: Answer) => void;
}

/** Webhooks on their way to partners, in memory, passed on one after the other. */
export class Mail {
  /** Webhook attempts that have reached their endpoint, in order. */
  readonly sent: CapturedDelivery[] = [];
  readonly #receivers = new Map<string, Receiver>();
  readonly #faults: Plans<CapturedDelivery, DeliveryEffect>;
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];
  #isBusy = false;
  /** HTTP client with which the service posts deliveries and logout tokens. */
  readonly client: WebhookClient = {
    post: (request) =>
      /json/.test(request.headers['content-type'] ?? 'json')
        ? new Promise((settle) => {
            this.#waiting.push({ request, isMoved: false, settle });
            if (!this.#isBusy) void this.#work();
          })
        : this.#handForm(request),
    abort() {},
    async close() {},
  };

  constructor(faults: Plans<CapturedDelivery, DeliveryEffect>, now: () => number) {
    this.#faults = faults;
    this.#now = now;
  }

  /** Makes code handle requests at and below a URL from now on. */
  receive(url: string, receiver: Receiver): void {
    this.#receivers.set(new URL(url).href, receiver);
  }

  /**
   * Returns the test's code for a URL: of the receivers at this URL or above it, the one with the longest
   * URL; `null` if there is none.
   */
  receiverOf(url: string): Receiver | null {
    const { href } = new URL(url);
    const below = [...this.#receivers.keys()].filter(
      (base) => href === base || href.startsWith(base.replace(/\/?$/, '/')) || href.startsWith(`${base}?`),
    );
    const longest = below.toSorted((a, b) => b.length - a.length)[0];
    return longest === undefined ? null : (this.#receivers.get(longest) ?? null);
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // Attempts that are due at once are posted in one turn.
    await new Promise((resolve) => setImmediate(resolve));
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const delivery = captured(next.request, this.#now());
      try {
        await this.#workOn(next, delivery);
      } catch (error) {
        // Record an error of the test's own `match` function here, where the test can see it.
        delivery.error = error;
        this.sent.push(delivery);
        next.settle(answerWith(500));
      }
    }
    this.#isBusy = false;
  }

  async #workOn(next: Waiting, delivery: Writable<CapturedDelivery>): Promise<void> {
    const isLast = this.#waiting.length === 0;
    const isPossible = ({ kind }: DeliveryEffect) => kind !== 'reorder' || !isLast;
    const fault = next.isMoved ? null : this.#faults.take(delivery, isPossible);
    if (fault?.kind === 'reorder') {
      next.isMoved = true;
      this.#waiting.splice(1, 0, next);
    } else {
      next.settle(await this.#deliver(delivery, fault));
    }
  }

  async #deliver(delivery: Writable<CapturedDelivery>, fault: DeliveryEffect | null): Promise<Answer> {
    switch (fault?.kind) {
      case 'drop':
        return noAnswer('connection_reset');
      case 'status':
        return answerWith(fault.status);
      case 'time out':
        await this.#hand(delivery);
        return noAnswer('timeout');
      case 'duplicate':
        await this.#hand({ ...delivery });
        return await this.#hand(delivery);
      default:
        return await this.#hand(delivery);
    }
  }

  /**
   * Reads a document that a client publishes, such as its keys, from the code of the test. Refuses responses
   * that the service refuses too, except for their size.
   */
  readonly readDocument: ReadDocument = async (url) => {
    const receiver = this.receiverOf(url);
    if (receiver === null) return { problem: 'it could not be read (connection_refused)' };
    try {
      const request = new Request(url, { headers: { accept: 'application/json' } });
      const response = await withinDeadline(delivering.run(true, async () => receiver(request)));
      if (response === 'late') return { problem: 'it took too long' };
      if (response.status !== 200) return { problem: `the server answered with status ${response.status}` };
      const type = response.headers.get('content-type') ?? '';
      if (!/^application\/(?:jwk-set\+)?json\b/i.test(type))
        return { problem: 'its Content-Type is not application/json or application/jwk-set+json' };
      return { text: await response.text(), headers: Object.fromEntries(response.headers) };
    } catch {
      return { problem: 'it could not be read (connection_reset)' };
    }
  };

  /**
   * Passes the notification of a sign-out to the test's code at its URL. Such a notification is a posted
   * form, not an event.
   */
  async #handForm({ url, headers, body }: WebhookRequest): Promise<Answer> {
    const receiver = this.receiverOf(url);
    const request = new Request(url, { method: 'POST', headers, body: String(body) });
    try {
      const answering = async (): Promise<Answer> => {
        const response = receiver === null ? new Response() : await receiver(request);
        return answerWith(response.status, await response.arrayBuffer());
      };
      const answer = await withinDeadline(delivering.run(true, answering));
      return answer === 'late' ? noAnswer('timeout') : answer;
    } catch {
      return answerWith(500);
    }
  }

  async #hand(delivery: Writable<CapturedDelivery>): Promise<Answer> {
    this.sent.push(delivery);
    const receiver = this.receiverOf(delivery.url);
    try {
      const answering = async (): Promise<Answer> => {
        const response = receiver === null ? new Response() : await receiver(delivery.request());
        delivery.status = response.status;
        return answerWith(response.status, await response.arrayBuffer());
      };
      const answer = await withinDeadline(delivering.run(true, answering));
      return answer === 'late' ? noAnswer('timeout') : answer;
    } catch (error) {
      delivery.error = error;
      return answerWith(500);
    }
  }
}
