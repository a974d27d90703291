import { createHmac } from 'node:crypto';
import type { DemoApiKey } from '../demo-file.ts';
import type { ApiAnswer } from './api.ts';
import { found, type Walk } from './flow.ts';
import { type Report, shortUrl } from './report.ts';

/** An answer with the bytes that it came in, for digests. */
export interface PartnerAnswer extends ApiAnswer {
  readonly text: string;
}

/** Calls the partner API with one key, and writes down both directions. */
export interface PartnerCalls {
  get(path: string): Promise<PartnerAnswer>;
  delete(path: string): Promise<PartnerAnswer>;
  /** Sends JSON, signed with the key's secret unless a signature is given. */
  post(
    path: string,
    body: Readonly<Record<string, unknown>>,
    options?: { readonly idempotencyKey?: string; readonly signature?: string },
  ): Promise<PartnerAnswer>;
}

function createPartnerCalls(report: Report, baseUrl: string, apiKey: DemoApiKey): PartnerCalls {
  const prefix = (apiKey.key.split('_', 1)[0] ?? '').toUpperCase();

  async function call(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<PartnerAnswer> {
    const url = new URL(path, baseUrl);
    const response = await fetch(url, {
      method,
      headers: { 'X-API-Key': apiKey.key, ...headers },
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const answer: unknown = JSON.parse(text);
    const fields = typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
    // The name of an error, unlike an authorization code, is no secret to be shortened.
    const { code, ...shown } = fields;
    report.received(`${response.status}${typeof code === 'string' ? ` ${code}` : ''}`, shown);
    return { status: response.status, headers: response.headers, body: fields, text };
  }

  const shownKey = `${apiKey.key.slice(0, 12)}…`;

  function bare(method: string, path: string): Promise<PartnerAnswer> {
    report.sent(`${method} ${shortUrl(new URL(path, baseUrl).href)}`, { 'X-API-Key': shownKey });
    return call(method, path, {});
  }

  return {
    get: (path) => bare('GET', path),
    delete: (path) => bare('DELETE', path),
    post(path, content, { idempotencyKey, signature } = {}) {
      const body = JSON.stringify(content);
      const headers = {
        'Content-Type': 'application/json',
        [`X-${prefix}-Timestamp`]: String(Date.now()),
        [`X-${prefix}-Signature`]:
          signature ?? createHmac('sha256', apiKey.signingSecret).update(body).digest('hex'),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      };
      report.sent(`POST ${shortUrl(new URL(path, baseUrl).href)}`, {
        'X-API-Key': shownKey,
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...content,
      });
      return call('POST', path, headers, body);
    },
  };
}

/** Calls with the key of a mode. */
export function callsOf(
  { report, file }: Pick<Walk, 'report' | 'file'>,
  mode: 'live' | 'test',
): PartnerCalls {
  const apiKey = found(
    file.apiKeys.find((key) => key.mode === mode),
    `${mode} API key`,
  );
  return createPartnerCalls(report, file.baseUrl, apiKey);
}
