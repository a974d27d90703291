import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { partnerProvider, payment } from '../support/partner-api.ts';

it('whatever the partner API answers carries the same headers, and none that only old caches read', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key();
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
  const { provider } = await partnerProvider();
  const { key } = await provider.key();
  const body = JSON.stringify({ ...payment, description: 'Fête du é' });
  const length = Buffer.byteLength(body);
  const head = [
    'POST /v1/partner/payments HTTP/1.1',
    `Host: ${new URL(provider.origin).host}`,
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    'Connection: close',
  ];
  const whole = Buffer.from(body);
  for (const pieces of [
    [whole],
    [whole.subarray(0, 9), whole.subarray(9)],
    [...whole].map((byte) => [byte]),
  ]) {
    const { port, hostname } = new URL(provider.origin);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.setNoDelay(true);
    let received = '';
    socket.setEncoding('utf8').on('data', (text) => {
      received += text;
    });
    const start = `${[...head, `Content-Length: ${length}`, '', ''].join('\r\n')}`;
    // The first piece comes with the headers.
    const [first = [], ...others] = pieces;
    socket.write(Buffer.concat([Buffer.from(start), Buffer.from(first)]));
    for (const piece of others) {
      await setImmediate();
      socket.write(Buffer.from(piece));
    }
    await once(socket, 'close');
    expect(received).toMatch(/^HTTP\/1\.1 201 /);
    expect(received).toContain('"description":"Fête du é"');
  }
});
