import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { safeVerify } from '@ostiary/webhook-verifier';
import { bodyOf, close, listen } from './http.ts';

/** A delivery that verified. */
export interface Delivered {
  /** Of the event. */
  readonly id: string;
  readonly path: string;
  readonly attempt: number;
  /** The body, byte for byte. */
  readonly text: string;
  readonly event: {
    readonly type: string;
    readonly createdAt: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

/** What a receiver is told, and what it answers. */
export interface ReceiverOptions {
  /** With which deliveries are signed, where it is known already. */
  readonly secret?: string;
  /** Where time runs otherwise in the processes that send: how old a delivery is then says nothing. */
  readonly ignoresAge?: boolean;
  /** Answers what verified: nothing at all, if it likes. @defaultValue 204 */
  readonly answer?: (delivered: Delivered, response: ServerResponse) => void;
}

/** A partner's endpoint at every path: it verifies what arrives, and remembers what is no delivery. */
export class Receiver {
  /** Why requests were no deliveries. */
  readonly rejected: string[] = [];
  requests = 0;
  secret: string;
  readonly #options: ReceiverOptions;
  readonly #server = createServer((request, response) => this.handler(request, response));

  constructor(options: ReceiverOptions = {}) {
    this.secret = options.secret ?? '';
    this.#options = options;
  }

  /** For a server of somebody else's. */
  readonly handler: RequestListener = async (request, response) => {
    const { ignoresAge = false, answer } = this.#options;
    const body = await bodyOf(request).catch(() => null);
    // The sender was killed in the middle of its request.
    if (body === null) return;
    const time = Number(request.headers['x-svc-timestamp']) * 1000;
    const result = await safeVerify(body, request.headers, {
      secret: this.secret,
      ...(ignoresAge && { now: () => time }),
    });
    this.requests += 1;
    if (!result.ok) {
      this.rejected.push(result.error.code);
      response.writeHead(400).end();
      return;
    }
    if (answer === undefined) return void response.writeHead(204).end();
    const text = body.toString();
    answer(
      {
        id: result.delivery.id,
        path: request.url ?? '',
        attempt: Number(request.headers['x-svc-attempt']),
        text,
        event: JSON.parse(text),
      },
      response,
    );
  };

  listen(): Promise<string> {
    return listen(this.#server);
  }

  close(): Promise<void> {
    return close(this.#server);
  }
}
