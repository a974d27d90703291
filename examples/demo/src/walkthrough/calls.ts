import { createHmac } from 'node:crypto';
import type { DemoApiKey, DemoFile } from '../demo-file.ts';
import { found } from './found.ts';
import { type Fields, type Report, shortUrl } from './report.ts';

/** Response to an HTTP call of the walkthrough. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Fields;
  /** Body of the response before it was parsed, for digests. */
  readonly text: string;
}

type Headings = Readonly<Record<string, string>>;

/** Sends a request from server to server, with content as JSON, and reports request and response. */
export async function call(
  report: Report,
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  headers: Headings = {},
  content?: Fields | string,
): Promise<Answer> {
  const body = typeof content === 'object' ? JSON.stringify(content) : content;
  const shown = ['Authorization', 'X-API-Key', 'Idempotency-Key'].filter((name) => name in headers);
  report.sent(`${method} ${shortUrl(url)}`, {
    ...Object.fromEntries(shown.map((name) => [name, headers[name]])),
    ...(body !== undefined && JSON.parse(body)),
  });
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    redirect: 'error',
    signal: AbortSignal.timeout(10_000),
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const answer: unknown = JSON.parse(text);
  const fields = typeof answer === 'object' && answer !== null ? (answer as Fields) : {};
  // An error's `code` is not a secret, unlike an authorization code, so do not shorten it.
  const { code, ...rest } = fields;
  report.received(`${response.status}${typeof code === 'string' ? ` ${code}` : ''}`, rest);
  return { status: response.status, headers: response.headers, body: fields, text };
}

/** Sends a GET request, with an access token if given, and reports request and response. */
export function read(report: Report, url: string, token?: string): Promise<Answer> {
  return call(report, 'GET', url, token === undefined ? {} : { Authorization: `Bearer ${token}` });
}

/**
 * Checks whether a response is an error with this status and code, of the OAuth endpoints or the partner API.
 */
export const isRefused = ({ status, body }: Answer, wanted: number, code: string): boolean =>
  status === wanted && (body.code ?? body.error) === code;

/** Returns the rows of a list response, from its member `data`. */
export const rowsOf = ({ body }: Answer): readonly Fields[] =>
  Array.isArray(body.data) ? (body.data as readonly Fields[]) : [];

/** Functions that call the partner API with one key. */
export type PartnerCalls = ReturnType<typeof callsOf>;

/**
 * Makes the functions that call the partner API with the demo's live or test key. POST requests are signed with
 * the key's signing secret unless a signature is given.
 */
export function callsOf(
  { report, file }: { readonly report: Report; readonly file: Pick<DemoFile, 'apiKeys' | 'baseUrl'> },
  mode: 'live' | 'test',
) {
  const keyOf = (apiKey: DemoApiKey): boolean => apiKey.mode === mode;
  const { key, signingSecret } = found(file.apiKeys.find(keyOf), `${mode} API key`);
  const wire = `X-${(key.split('_', 1)[0] ?? '').toUpperCase()}`;
  const at = (path: string): string => new URL(`/v1/partner/${path}`, file.baseUrl).href;
  const own = { 'X-API-Key': key };
  return {
    get: (path: string) => call(report, 'GET', at(path), own),
    delete: (path: string) => call(report, 'DELETE', at(path), own),
    post(path: string, content: Fields, given: { idempotencyKey?: string; signature?: string } = {}) {
      const body = JSON.stringify(content);
      const signature = createHmac('sha256', signingSecret).update(body).digest('hex');
      const headers = {
        ...own,
        [`${wire}-Timestamp`]: String(Date.now()),
        [`${wire}-Signature`]: given.signature ?? signature,
        ...(given.idempotencyKey !== undefined && { 'Idempotency-Key': given.idempotencyKey }),
      };
      return call(report, 'POST', at(path), headers, body);
    },
  };
}
