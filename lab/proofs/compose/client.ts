import { randomUUID } from 'node:crypto';
import { request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';

/** Response of the deployment. */
interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** A partner and its customer, who send requests through the proxy of the deployment. */
export class Client {
  /** Requests that did not get the expected response. */
  readonly failures: string[] = [];
  /** Number of requests so far. */
  requests = 0;
  readonly #ca: string;
  readonly #key: string;
  readonly #kid: string;
  #isRunning = false;

  /**
   * @param ca - certificate of the authority that signs the certificates of the proxy
   * @param key - API key of the partner
   * @param kid - id of the user to whom the partner pays
   */
  constructor(ca: string, key: string, kid: string) {
    this.#ca = ca;
    this.#key = key;
    this.#kid = kid;
  }

  /** Sends a request to a host of the deployment on this machine. Without a response, the status is 0. */
  ask(
    host: string,
    path: string,
    json?: unknown,
    method = json === undefined ? 'GET' : 'POST',
  ): Promise<Answer> {
    const body = json === undefined ? undefined : JSON.stringify(json);
    const headers = {
      host,
      'x-api-key': this.#key,
      'idempotency-key': randomUUID(),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
    };
    this.requests += 1;
    return new Promise((resolve) => {
      const failed = ({ message }: Error) => resolve({ status: 0, body: { message } });
      const options = {
        host: '127.0.0.1',
        servername: host,
        ca: this.#ca,
        agent: false,
        timeout: 20_000,
      } as const;
      const sent = request({ ...options, path, method, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('end', () => {
          const isJson = String(response.headers['content-type']).startsWith('application/json');
          resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : { text } });
        });
        response.once('error', failed);
      });
      sent.once('timeout', () => sent.destroy(new Error('no response within 20 s')));
      sent.once('error', failed).end(body);
    });
  }

  /** Pays the user. @returns the id of the transfer; `null` if the payment was not accepted */
  async pay(): Promise<string | null> {
    const payment = { amount: '1.00', currency: 'HTG', recipient: { kid: this.#kid } };
    const { status, body } = await this.ask('api.localhost', '/v1/partner/payments', payment);
    if (status === 201) return String(body.id);
    this.failures.push(`payment: ${status} ${JSON.stringify(body)}`);
    return null;
  }

  /** Returns the status of a transfer, such as `completed`. */
  async statusOf(transfer: string): Promise<unknown> {
    return (await this.ask('api.localhost', `/v1/partner/payments/${transfer}`)).body.status;
  }

  /** Sends requests at a steady rate, until {@link stop} is called. Resolves after the last response. */
  async start(): Promise<void> {
    this.#isRunning = true;
    const discover = async () => {
      const { status } = await this.ask('id.localhost', '/.well-known/openid-configuration');
      if (status !== 200) this.failures.push(`discovery: ${status}`);
    };
    // A key may pay 120 times a minute.
    await Promise.all([this.#repeat(discover, 25), this.#repeat(() => this.pay(), 700)]);
  }

  async #repeat(work: () => Promise<unknown>, everyMs: number): Promise<void> {
    while (this.#isRunning) {
      await work();
      await delay(everyMs);
    }
  }

  stop(): void {
    this.#isRunning = false;
  }
}
