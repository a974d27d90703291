import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';

/** What a server answered. */
export interface Answer {
  readonly status: number;
  header(name: string): string | undefined;
  readonly cookies: readonly string[];
  readonly body: string;
  /** What this machine's clock showed halfway. */
  readonly askedAt: number;
}

const patienceMs = 5_000;
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

/** Why there was no answer, in a few words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer within 5 s';
  return 'code' in error ? String(error.code) : error.message;
}
