import type { Report } from './report.ts';
import { shortUrl } from './report.ts';

/** What an API call answered. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Calls the API from server to server, and writes down both directions. */
export interface Api {
  get(url: string, token?: string): Promise<ApiAnswer>;
  /** Sends JSON. */
  post(url: string, body: Readonly<Record<string, string>>): Promise<ApiAnswer>;
}

export function createApi(report: Report): Api {
  async function call(url: string, init: RequestInit): Promise<ApiAnswer> {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(10_000) });
    const body: unknown = await response.json();
    const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
    report.received(String(response.status), fields);
    return { status: response.status, headers: response.headers, body: fields };
  }
  return {
    get(url, token) {
      report.sent(
        `GET ${shortUrl(url)}`,
        token === undefined ? null : { Authorization: `Bearer ${token.slice(0, 10)}…` },
      );
      return call(url, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } });
    },
    post(url, body) {
      report.sent(`POST ${shortUrl(url)}`, body);
      return call(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    },
  };
}
