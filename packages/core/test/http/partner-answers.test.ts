import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { parseAnswer, RawConnection, rawPost } from '../attacks/raw.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';

const { provider } = await partnerProvider();
const key = await provider.key();

it('whatever the partner API answers carries the same headers, and none that only old caches read', async () => {
  for (const target of [
    'GET /v1/partner/users/KID-ANA',
    'HEAD /v1/partner/users/KID-ANA',
    'OPTIONS /v1/partner/users/KID-ANA',
    'GET /v1/partner/users/nobody',
    'GET /v1/partner/unknown',
    'DELETE /v1/partner/payments',
    'GET /v1/partner/reconciliation?date=2024-01-01&format=csv',
    'GET /v1/openapi.json',
  ]) {
    const { headers } = await provider.partnerCall(key, target);
    expect(headers.get('x-request-id'), target).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-content-type-options'), target).toBe('nosniff');
    expect(headers.get('cache-control'), target).toBe('no-store');
    expect(headers.get('pragma'), target).toBeNull();
  }
});

it('a body is the same in one piece and in many', async () => {
  const body = JSON.stringify({ ...payment, description: 'Fête du é' });
  const headers = [`X-API-Key: ${key.key}`, 'Content-Type: application/json'];
  const whole = rawPost('/v1/partner/payments', headers, body);
  const start = whole.length - Buffer.byteLength(body);
  const afterHeaders = Array.from({ length: whole.length - start }, (_, index) => start + index);
  for (const cuts of [[], [start + 9], afterHeaders]) {
    const connection = await RawConnection.open(provider.origin);
    for (const [index, from] of [0, ...cuts].entries()) {
      connection.write(whole.subarray(from, cuts[index]));
      await setImmediate();
    }
    const answer = parseAnswer(await connection.all());
    expect(answer.status).toBe(201);
    expect(Buffer.from(answer.body, 'latin1').toString()).toContain('"description":"Fête du é"');
  }
});
