import { randomBytes } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { proofOf } from './key-proofs.ts';
import type { ProbeAnswer } from './route.ts';

/** Response of a server. */
export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly cookies: readonly string[];
  readonly body: string;
  /** Time of this machine's clock halfway between request and response. */
  readonly askedAt: number;
}

/** Time that an answer is waited for, in milliseconds. */
export const patienceMs = 5_000;
const largest = 1_000_000;

/**
 * Asks once, following nothing. Certificates are looked at by a check of their own, so that a bad one does not hide what
 * else is wrong; nothing secret is ever sent.
 *
 * @throws Error when there is no answer
 */
export function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const request = url.startsWith('https:') ? secureRequest : plainRequest;
  const start = Date.now();
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { headers, rejectUnauthorized: false, agent: false, signal: AbortSignal.timeout(patienceMs) },
      (response) => {
        const answeredAt = Date.now();
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
          if (body.length > largest) asked.destroy(new Error('the answer is too long'));
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            header: (name) => {
              const value = response.headers[name];
              return Array.isArray(value) ? value.join(', ') : value;
            },
            cookies: response.headers['set-cookie'] ?? [],
            body,
            askedAt: (start + answeredAt) / 2,
          }),
        );
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

/** Says in a few words why there was no response. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer within 5 s';
  return 'code' in error ? String(error.code) : error.message;
}

/** A server of this installation answered. */
export interface Probed extends ProbeAnswer {
  readonly answer: Answer;
}

/**
 * Asks a server to prove that it has a sealing key of this installation, and whom it takes the doctor for; `null` when
 * what answers cannot.
 *
 * @throws Error when nothing answers
 */
export async function probe(
  origin: string,
  sealingKeys: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Probed | null> {
  for (const key of sealingKeys) {
    const asked = `${Date.now()}-${randomBytes(12).toString('hex')}`;
    const authorization = `Doctor ${asked}.${proofOf(key, `ask ${asked}`)}`;
    const answer = await ask(`${origin}/doctor`, { ...headers, authorization });
    const { status, body } = answer;
    if (status === 200 && answer.header('x-doctor-proof') === proofOf(key, `answer ${asked} ${body}`)) {
      const told: ProbeAnswer = JSON.parse(body);
      return { ...told, answer };
    }
  }
  return null;
}
