import { randomBytes } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { proofOf } from './key-proofs.ts';
import type { ProbeAnswer } from './route.ts';

/** HTTP response of the server that the doctor examines. */
export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly cookies: readonly string[];
  readonly body: string;
  /**
   * Time on this machine's clock halfway between request and response, in milliseconds since the Unix epoch.
   */
  readonly askedAt: number;
}

/** Time for which the doctor waits for a response, in milliseconds. */
export const patienceMs = 5_000;
/** Largest response body that the doctor reads, in characters. A longer one is an error. */
const largest = 1_000_000;

/**
 * Sends one GET request and does not follow redirects. It accepts any certificate, so that a bad certificate,
 * which `checkTls` reports, does not hide other problems. It never sends a secret.
 *
 * @throws Error if there is no response, or if its body is too long
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
          if (body.length > largest) asked.destroy(new Error('the response is too long'));
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

/** Describes in a few words why a server did not respond. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no response within 5 s';
  return 'code' in error ? String(error.code) : error.message;
}

/** Response of a server that proved to belong to this installation. */
export interface Probed extends ProbeAnswer {
  readonly answer: Answer;
}

/**
 * Asks a server to prove that it has a sealing key of this installation, and which client IP address it sees.
 * Returns `null` if the server cannot prove it.
 *
 * @throws Error if there is no response
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
      const probed: ProbeAnswer = JSON.parse(body);
      return { ...probed, answer };
    }
  }
  return null;
}
