import { request as plainRequest } from 'node:http';
import { Agent, request as tlsRequest } from 'node:https';
import { certificate } from '../../../../packages/core/test/webhooks/support/target-certificate.ts';

/** One answer, with its body read. */
export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly text: string;
  json(): Record<string, unknown>;
}

/** What is sent: a form, or JSON (an object, or text that is sent as it is), or nothing. */
export interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly form?: Record<string, string> | undefined;
  readonly body?: object | string | undefined;
}

/** Accepts the certificate of the tests and no other one. */
const agent = new Agent({ ca: certificate });

/** How long an answer may take on a machine that is busy, in milliseconds. Nothing in these tests waits on purpose. */
const patienceMs = 20_000;

function written({ form, body }: Sent): { readonly type?: string; readonly text?: string } {
  if (form !== undefined)
    return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(form).toString() };
  if (body === undefined) return {};
  return { type: 'application/json', text: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** One request, over TLS where the address says so; nothing is followed. */
export function ask(url: string | URL, sent: Sent = {}): Promise<Answer> {
  const { type, text } = written(sent);
  const { protocol } = new URL(url);
  const options = {
    method: sent.method ?? 'GET',
    headers: { ...(type === undefined ? {} : { 'content-type': type }), ...sent.headers },
    signal: AbortSignal.timeout(patienceMs),
  };
  return new Promise((resolve, reject) => {
    const request =
      protocol === 'https:' ? tlsRequest(url, { ...options, agent }) : plainRequest(url, options);
    request.on('error', reject).on('response', (response) => {
      let received = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        received += chunk;
      });
      response.on('error', reject).on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: received,
          json: () => JSON.parse(received) as Record<string, unknown>,
        }),
      );
    });
    request.end(text);
  });
}
