import { describe, expect, it } from 'vitest';
import { freePort } from '../../../../lab/support/free-port.ts';
import { AbortedError, ConflictError, ConnectionError, OstiaryError, TimeoutError } from '../../src/index.ts';
import {
  answer,
  type Fault,
  fakeKey,
  faulty,
  hang,
  hangBody,
  refusal,
  resetBefore,
} from '../support/faulty.ts';
import { against, all, clientOf, failureOf, partner, payment } from '../support/partner.ts';

describe('the outcome', () => {
  const refused = refusal(429, 'rate_limit_exceeded', { 'retry-after': '1' });
  const failed = refusal(500, 'internal_error');
  const conflict = refusal(409, 'idempotency_conflict');

  it.each<readonly [string, readonly Fault[], string]>([
    ['refusals', [refused, refused, refused], 'not_executed'],
    ['a refusal', [refusal(404, 'not_found')], 'not_executed'],
    ['a 5xx, then refusals', [failed, refused, refused], 'unknown'],
    ['a refusal, then a 5xx, then a refusal', [refused, failed, refusal(403, 'ip_not_allowed')], 'unknown'],
    ['a reset, then a refusal that proves nothing', [resetBefore, refusal(404, 'not_found')], 'unknown'],
    ['a reset, then a conflict, which settles it', [resetBefore, conflict], 'not_executed'],
    ['a conflict without the signs of this API', [resetBefore, bare(409)], 'unknown'],
    ['a refusal of a proxy', [bare(403)], 'unknown'],
    ['a 503', [refusal(503, 'internal_error', { 'retry-after': '99' })], 'unknown'],
    ['a success whose body is lost', [hangBody(201)], 'executed'],
    ['a success whose body is lost, then refusals', [hangBody(201), refused, refused], 'executed'],
    ['a page with status 200', [page(200), page(200), page(200)], 'unknown'],
    ['an empty body', [empty], 'executed'],
    ['a redirect', [answer(307, {}, { location: 'https://other.example/' })], 'unknown'],
  ])('after %s', async (_name, faults, outcome) => {
    const { seen, ostiary } = await against([...faults], { timeout: 500 });
    const call = ostiary.payments.create(payment, { maxRetries: faults.length - 1 });
    const error = (await failureOf(call)) as OstiaryError;
    expect(error).toBeInstanceOf(OstiaryError);
    expect(error.outcome).toBe(outcome);
    expect(error.attempts).toBe(faults.length);
    expect(seen).toHaveLength(faults.length);
  });

  it('of a write that took effect is final, whatever the response', async () => {
    const { seen, ostiary } = await against([empty, empty, empty]);
    const error = await failureOf(ostiary.payments.create(payment, { maxRetries: 2 }));
    expect(error).toMatchObject({
      name: 'ProtocolError',
      outcome: 'executed',
      retryable: false,
      attempts: 1,
    });
    expect(seen).toHaveLength(1);
    expect(await failureOf((await against([empty, empty, empty])).ostiary.whoami())).toMatchObject({
      attempts: 3,
    });
  });

  it('is not_executed if there was no connection', async () => {
    const { ostiary } = clientOf(`http://127.0.0.1:${await freePort()}`, fakeKey);
    const error = await failureOf(ostiary.payments.create(payment));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ outcome: 'not_executed', attempts: 3, code: 'connection_error' });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('is unknown for a connection error of a custom fetch, which may have retried', async () => {
    const { ostiary } = clientOf(`http://127.0.0.1:${await freePort()}`, fakeKey, {
      fetch: (url, init) => fetch(url, init),
    });
    expect(await failureOf(ostiary.payments.create(payment))).toMatchObject({ outcome: 'unknown' });
  });

  it('of a conflict about a reference contains the id of the earlier transfer', async () => {
    const { ostiary } = await partner();
    const { id } = await ostiary.payments.create({ ...payment, reference: 'order-1' });
    const error = await failureOf(ostiary.payments.create({ ...payment, reference: 'order-1' }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ outcome: 'not_executed', details: [{ path: 'reference', message: id }] });
    expect(await all(ostiary.payments.list())).toHaveLength(1);
  });
});

describe('the outcome of a call that was stopped', () => {
  it('after an abort depends on whether a request was sent', async () => {
    const { seen, ostiary } = await against([hang]);
    const early = await failureOf(ostiary.payments.create(payment, { signal: AbortSignal.abort() }));
    expect(early).toMatchObject({ name: 'AbortedError', code: 'aborted', outcome: 'not_executed' });
    expect(seen).toHaveLength(0);

    const controller = new AbortController();
    const call = ostiary.payments.create(payment, { signal: controller.signal });
    await expect.poll(() => seen.length).toBe(1);
    controller.abort();
    const late = await failureOf(call);
    expect(late).toBeInstanceOf(AbortedError);
    expect(late).toMatchObject({ outcome: 'unknown', retryable: false, attempts: 1 });
  });

  it('after an abort during a pause is that of the attempts', async () => {
    const { origin } = await faulty([refusal(429, 'rate_limit_exceeded', { 'retry-after': '30' })]);
    const controller = new AbortController();
    const { ostiary } = clientOf(origin, fakeKey, {
      sleep: () => {
        controller.abort();
        return new Promise(() => {});
      },
    });
    const call = ostiary.payments.create(payment, { signal: controller.signal });
    expect(await failureOf(call)).toMatchObject({ name: 'AbortedError', outcome: 'not_executed' });
  });

  it('of a time-out is unknown', async () => {
    const { ostiary } = await against([hang]);
    const error = await failureOf(ostiary.payments.create(payment, { timeout: 50, maxRetries: 0 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ outcome: 'unknown', code: 'timeout', retryable: true });
  });
});

/** Makes a fault that responds with the HTML page of a proxy. */
function page(status: number): Fault {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Sign in to the wifi</html>');
}

function bare(status: number): Fault {
  return (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end('{"code":"idempotency_conflict"}');
}

const empty: Fault = (response) => void response.writeHead(200, { 'x-request-id': 'req-1' }).end();
