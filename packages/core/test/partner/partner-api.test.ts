import { describe, expect, it } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';
import { blamed } from './refusal.ts';

const { provider } = await partnerProvider();
const key = await provider.key();
const day = 'date=2024-01-01';
const json = 'application/json; charset=utf-8';

describe('every answer', () => {
  it.each([
    ['HEAD /v1/partner/users/KID-ANA', 200, json],
    ['GET /v1/openapi.json', 200, json],
    [`GET /v1/partner/reconciliation?${day}&format=csv`, 200, 'text/csv; charset=utf-8'],
    [`GET /v1/partner/reconciliation?${day}&format=ndjson`, 200, 'application/x-ndjson; charset=utf-8'],
    ['OPTIONS /v1/partner/payments', 204, null],
    ['GET /v1/partner/reconciliation?date=x&format=csv', 400, json],
    ['GET /v1/partner/nothing', 404, json],
    ['PUT /v1/partner/payments', 405, json],
  ] as const)('such as %s: %i has an id, a type and no place in a cache', async (target, status, type) => {
    const sent = { accept: 'text/html', 'x-request-id': 'chosen by the caller' };
    const ask = () => provider.partnerCall(key, target, undefined, sent);
    const [answer, again] = [await ask(), await ask()];
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, type]);
    const { 'x-request-id': id, ...headers } = Object.fromEntries(answer.headers);
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(again.headers.get('x-request-id')).not.toBe(id);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    // The response has no header about the server, none for old caches only, and no HSTS without https.
    for (const name of ['x-powered-by', 'pragma', 'strict-transport-security'])
      expect(headers).not.toHaveProperty(name);
    if (status >= 400) blamed(answer, status, String(answer.json().code));
  });
});
