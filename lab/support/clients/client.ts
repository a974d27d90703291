import { setTimeout } from 'node:timers/promises';

/** Counts the responses that clients observed while a fault was active. */
export class Tally {
  requests = 0;
  /** Number of responses with status 503 and `Retry-After`. */
  errors = 0;
  slowestErrorMs = 0;
  /** Method and path of the slowest response that is an error. */
  slowestPath = '';
  /** Number of requests whose connection was refused or broke, because the server process was killed. */
  cutOff = 0;
  /**
   * Descriptions of the responses that no client should ever get, and of the requests without a response in
   * time.
   */
  readonly wrong: string[] = [];
}

/** A definite response, which states the result of the request. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Number of earlier attempts that may have taken effect although the client got no response, or a 503. */
  readonly inDoubt: number;
}

/** A server process that requests can be sent to. */
interface Target {
  /** Origin of the server process; if the process was killed, its last origin. */
  readonly origin: string;
}

/** Maximum wait of a client for a response, in milliseconds. A longer wait is a defect of the server. */
const answerMs = 10_000;

/** Pause of a client after a connection broke, in milliseconds. */
const pauseMs = 100;

/**
 * A client that repeats a request until the response is definite. The client waits as long as `Retry-After`
 * says, and then tries another process.
 */
export class Client {
  readonly #processes: readonly Target[];
  readonly #tally: () => Tally;
  readonly #signal: AbortSignal;
  #turn: number;

  /**
   * @param turn - index of the process before the one to begin with
   * @param signal - makes the next attempt fail; a request that is under way is not aborted
   */
  constructor(processes: readonly Target[], tally: () => Tally, turn: number, signal: AbortSignal) {
    this.#processes = processes;
    this.#tally = tally;
    this.#signal = signal;
    this.#turn = turn;
  }

  async send(path: string, request: RequestInit): Promise<Answer> {
    for (let inDoubt = 0; ; inDoubt += 1) {
      this.#signal.throwIfAborted();
      this.#turn += 1;
      const target = this.#processes[this.#turn % this.#processes.length];
      const answer = await this.once(target?.origin ?? '', path, request);
      if (answer === null) await setTimeout(pauseMs);
      else if (answer.status !== 503) return { ...answer, inDoubt };
      else await setTimeout(Number(answer.headers.get('retry-after') ?? 1) * 1000);
    }
  }

  /**
   * Sends a request once to one process; returns `null` if the connection broke, or no response came in time.
   */
  async once(origin: string, path: string, request: RequestInit): Promise<Omit<Answer, 'inDoubt'> | null> {
    const tally = this.#tally();
    const [name = ''] = path.split('?');
    tally.requests += 1;
    const started = performance.now();
    try {
      const signal = AbortSignal.timeout(answerMs);
      const response = await fetch(origin + path, { redirect: 'manual', ...request, signal });
      const text = await response.text();
      const ms = performance.now() - started;
      const { status, headers } = response;
      if (status >= 500) {
        if (ms > tally.slowestErrorMs) {
          tally.slowestErrorMs = ms;
          tally.slowestPath = `${request.method ?? 'GET'} ${name}`;
        }
        if (status === 503 && headers.has('retry-after')) tally.errors += 1;
        else tally.wrong.push(`${name}: ${status} ${text.slice(0, 200)}`);
      }
      return { status, headers, text };
    } catch (error) {
      if (performance.now() - started >= answerMs) tally.wrong.push(`${name}: no answer`);
      else tally.cutOff += 1;
      if (!(error instanceof Error)) throw error;
      return null;
    }
  }
}
