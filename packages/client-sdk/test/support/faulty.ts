import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { bodyOf, close, listen } from '../../../../lab/support/http.ts';

/** A request as it arrived at the faulty server. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Handles one request in a faulty way. `forward` passes the request to the real server and returns the
 * response.
 */
export type Fault = (
  response: ServerResponse,
  context: { readonly seen: Seen; readonly forward: () => Promise<Response> },
) => void | Promise<void>;

/** A well-formed API key. */
export const fakeKey = `svc_test_${'A1b2C3d4'.repeat(6)}x`;

const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'host', 'content-length'];

/** Forwards a request to the real server, and returns its response. */
export const pass: Fault = async (response, { forward }) => {
  const answer = await forward();
  const headers = [...answer.headers].filter(([name]) => !hopByHop.includes(name));
  response.writeHead(answer.status, Object.fromEntries(headers)).end(await answer.text());
};

/** Makes a fault that responds with JSON, as the API does. */
export const answer =
  (status: number, body: object, headers: Record<string, string> = {}): Fault =>
  (response) => {
    const all = { 'content-type': 'application/json', 'x-request-id': 'req-1', ...headers };
    response.writeHead(status, all).end(JSON.stringify(body));
  };

/** Makes a fault that responds with an error of the API. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Fault =>
  answer(status, { code, message: `It is ${code}.`, requestId: 'req-1' }, headers);

/** Fault that breaks the connection before the request has an effect. */
export const resetBefore: Fault = (response) => void response.socket?.resetAndDestroy();

/** Fault that lets the server execute the request, and breaks the connection instead of responding. */
export const resetAfter: Fault = async (response, { forward }) => {
  await (await forward()).arrayBuffer();
  response.socket?.resetAndDestroy();
};

/** Fault that never responds to the request. */
export const hang: Fault = () => {};

/** Makes a fault that sends headers and half a body, and then stalls. */
export const hangBody =
  (status = 200, headers: Record<string, string> = {}): Fault =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1', ...headers });
    response.write('{"id":');
  };

/**
 * Starts a server that applies the next of `faults` to each request. After the last fault it forwards
 * requests, or responds with 200.
 */
export async function faulty(
  faults: Fault[] = [],
  target?: string,
): Promise<{ readonly origin: string; readonly seen: Seen[]; readonly faults: Fault[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    void bodyOf(request).then(
      (bytes) => {
        const body = bytes.toString();
        const one: Seen = { method, path, headers, body };
        seen.push(one);
        const kept = Object.entries(headers).filter(([name]) => !hopByHop.includes(name));
        const forward = () =>
          fetch(`${target}${path}`, {
            method,
            headers: Object.fromEntries(kept) as Record<string, string>,
            ...(body === '' ? {} : { body }),
          });
        const fault = faults.shift() ?? (target === undefined ? answer(200, {}) : pass);
        return fault(response, { seen: one, forward });
      },
      () => undefined,
    );
  });
  onTestFinished(() => close(server));
  return { origin: await listen(server), seen, faults };
}
