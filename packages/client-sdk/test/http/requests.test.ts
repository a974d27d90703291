import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { close, listen } from '../../../../lab/support/http.ts';
import {
  OstiaryError,
  type OstiaryPartnerOptions,
  ProtocolError,
  ServerError,
  SignatureError,
} from '../../src/index.ts';
import { exportReconciliation } from '../../src/reconciliation/index.ts';
import { answer, type Fault, fakeKey, faulty, refusal } from '../support/faulty.ts';
import { against, all, clientOf, failureOf, partner, payment } from '../support/partner.ts';

describe('an id in a path', () => {
  it.each([
    ['../../oauth/token', '..%2F..%2Foauth%2Ftoken'],
    ['a/b?c=d#e', 'a%2Fb%3Fc%3Dd%23e'],
    ['..\\..', '..%5C..'],
    ['%2e%2e', '%252e%252e'],
    ['a\r\nX-Injected: 1', 'a%0D%0AX-Injected%3A%201'],
    ['...', '...'],
    ['é😀', '%C3%A9%F0%9F%98%80'],
  ])('%j is one segment', async (id, segment) => {
    const { ostiary, seen } = await against();
    await ostiary.payments.retrieve(id);
    expect(seen.map(({ path }) => path)).toEqual([`/v1/partner/payments/${segment}`]);
  });

  it.each(['', '.', '..', '\ud800', undefined, null, 7, {}])(
    '%j is refused before anything is sent',
    async (id) => {
      const { seen, ostiary } = await against();
      for (const call of [
        ostiary.payments.retrieve,
        ostiary.webhooks.delete,
        ostiary.users.retrieveByPhone,
      ]) {
        expect(await failureOf(call(id as never))).toBeInstanceOf(TypeError);
      }
      expect(seen).toEqual([]);
    },
  );
});

describe('a baseUrl', () => {
  it('may have a path, with and without a slash', async () => {
    for (const path of ['/gateway', '/gateway/']) {
      const { origin, seen } = await faulty();
      await clientOf(`${origin}${path}`, fakeKey).ostiary.whoami();
      expect(seen[0]?.path).toBe('/gateway/v1/partner/whoami');
    }
  });
});

it('is never answered from the cache of Next.js, which stores what its fetch gets', async () => {
  const options: object[] = [];
  const fetching: OstiaryPartnerOptions['fetch'] = (url, init) => {
    options.push(init);
    return fetch(url, init);
  };
  const { origin } = await faulty();
  const { ostiary } = clientOf(origin, fakeKey, { fetch: fetching });
  await ostiary.payments.retrieve('tr_1');
  await ostiary.payments.create(payment);
  expect(options).toMatchObject(Array(2).fill({ next: { revalidate: 0 } }));
  expect(options).not.toContainEqual(expect.objectContaining({ cache: expect.anything() }));
});

it('gives Next.js the error back with which its fetch ends the static rendering of a page', async () => {
  const bailout = Object.assign(new Error('Dynamic server usage'), { digest: 'DYNAMIC_SERVER_USAGE' });
  const fetch = vi.fn(() => Promise.reject(bailout));
  const { ostiary } = clientOf('https://api.example', fakeKey, { fetch });
  expect(await failureOf(ostiary.payments.retrieve('tr_1'))).toBe(bailout);
  const march = exportReconciliation(ostiary, { date: '2026-03-01' });
  expect(await failureOf(all(march))).toBe(bailout);
  expect(fetch).toHaveBeenCalledTimes(2);
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'with %i is not followed, and the key is not sent on',
    async (status) => {
      const elsewhere = await faulty();
      const { origin, seen } = await faulty([answer(status, {}, { location: `${elsewhere.origin}/steal` })]);
      const error = await failureOf(clientOf(origin, fakeKey).ostiary.payments.create(payment));
      expect(error).toBeInstanceOf(ProtocolError);
      expect(error).toMatchObject({ code: 'redirect', status, retryable: false, attempts: 1 });
      expect(elsewhere.seen).toEqual([]);
      expect(seen).toHaveLength(1);
    },
  );

  it('is also detected if a browser hides it', async () => {
    const opaque = { type: 'opaqueredirect', ok: false, status: 0, headers: new Headers(), body: null };
    const { ostiary } = clientOf('https://api.example', fakeKey, { fetch: async () => opaque as Response });
    expect(await failureOf(ostiary.whoami())).toMatchObject({ code: 'redirect', retryable: false });
  });
});

describe('a response that is not from this API', () => {
  const html: Fault = (response) =>
    void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');

  it('is reported as such, and never as a parser error', async () => {
    const { ostiary } = await against([html], { maxRetries: 0 });
    const error = await failureOf(ostiary.whoami());
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ code: 'unexpected_answer', status: 502, retryable: true, requestId: null });
    expect(error.message).toContain('text/html');
    expect(error.message).not.toContain('<html>');
  });

  it.each<readonly [string, string]>([
    ['nothing', ''],
    ['a page', '<html></html>'],
    ['half a body', '{"partner":'],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"ok"'],
  ])('with status 200 and %s is a ProtocolError', async (_name, text) => {
    const { origin } = await faulty(
      Array(3).fill((response: Parameters<Fault>[0]) => void response.end(text)),
    );
    const error = await failureOf(clientOf(origin, fakeKey).ostiary.whoami());
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ code: 'unexpected_answer', status: 200, attempts: 3 });
  });

  it('that is not a list is a ProtocolError if a list was requested', async () => {
    const { ostiary } = await against([answer(200, { data: {} })], { maxRetries: 0 });
    expect(await failureOf(all(ostiary.payments.list()))).toBeInstanceOf(ProtocolError);
  });

  it('that does not end is aborted, at any speed', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(1024 * 1024, 0x20);
      const write = (): void => {
        while (response.write(chunk));
        response.once('drain', write);
      };
      response.on('error', () => {});
      write();
    });
    const origin = await listen(server);
    onTestFinished(() => close(server));
    const { ostiary } = clientOf(origin, fakeKey, { maxRetries: 0 });
    const error = await failureOf(ostiary.whoami());
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error.message).toContain('too long');
  });

  it('may have fields and values that this version does not know', async () => {
    const { ostiary } = await against([answer(200, { id: 'tr_1', status: 'reversed', colour: 'red' })]);
    const transfer = await ostiary.payments.retrieve('tr_1');
    expect(transfer).toEqual({ id: 'tr_1', status: 'reversed', colour: 'red' });
  });

  it('keeps a code that this version does not know', async () => {
    const { ostiary } = await against([refusal(418, 'short_and_stout')]);
    const error = await failureOf(ostiary.whoami());
    expect(error).toBeInstanceOf(OstiaryError);
    expect(error).toMatchObject({ code: 'short_and_stout', status: 418, outcome: 'not_executed' });
  });
});

describe('signing', () => {
  it('is new for every attempt, covers the sent bytes, and is only present with a body', async () => {
    const signingSecret = 'svc_sign_0123456789abcdef';
    const times = [1_800_000_000_000, 1_800_000_007_000, 1_800_000_009_000];
    const { seen, ostiary } = await against([refusal(503, 'internal_error')], {
      signingSecret,
      now: () => times.shift() ?? 0,
    });
    await ostiary.payments.create({ ...payment, description: 'Pò — é 😀' });
    await ostiary.whoami();
    const signatures = seen.map(({ headers }) => headers['x-svc-signature']);
    const expected = createHmac('sha256', signingSecret)
      .update(seen[0]?.body ?? '')
      .digest('hex');
    expect(signatures).toEqual([expected, expected, undefined]);
    const [first, second, third] = seen.map(({ headers }) => Number(headers['x-svc-timestamp']));
    expect(second).toBeGreaterThan(first ?? 0);
    expect(third).toBeNaN();
  });

  it('is accepted for a key that needs it, with the prefix of the installation', async () => {
    const { provider } = await partner({ prefix: 'acme' });
    const key = await provider.key({ mode: 'test', requireSignature: true });
    expect(key.key).toMatch(/^acme_test_/);
    const now = () => provider.clock.now();
    const { signingSecret } = key;
    const signed = clientOf(provider.origin, key.key, { signingSecret, now }).ostiary;
    expect(await signed.payments.create(payment)).toMatchObject({ amount: '125.00' });
    const unsigned = clientOf(provider.origin, key.key).ostiary;
    expect(await failureOf(unsigned.payments.create(payment))).toBeInstanceOf(SignatureError);
    const late = clientOf(provider.origin, key.key, { signingSecret, now: () => now() - 301_000 }).ostiary;
    expect(await failureOf(late.payments.create(payment))).toMatchObject({ code: 'invalid_signature' });
  });
});

describe('the response', () => {
  it('is available in addition to the data', async () => {
    const { ostiary } = await partner();
    const { data, response } = await ostiary.payments.create(payment).withResponse();
    expect(response).toMatchObject({ status: 201, attempts: 1 });
    expect(response.requestId).toBe(response.headers.get('X-Request-Id'));
    expect(JSON.parse(response.text)).toEqual(data);
    expect(response.headers.get('X-RateLimit-Remaining')).not.toBeNull();
  });

  it('is one promise to handle: who asks for both has no other that fails unseen', async () => {
    const { ostiary } = await against([refusal(404, 'not_found'), refusal(404, 'not_found')]);
    expect(await failureOf(ostiary.whoami().withResponse())).toMatchObject({ code: 'not_found' });
    expect(await ostiary.whoami().catch(() => 'caught')).toBe('caught');
  });
});

describe('lists', () => {
  it('are read item by item or page by page', async () => {
    const { ostiary, provider } = await partner();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.unshift((await ostiary.payments.create({ ...payment, reference: `order-${index}` })).id);
      provider.clock.advance(1_000);
    }
    const list = ostiary.payments.list({ limit: 2 });
    expect((await all(list)).map(({ id }) => id)).toEqual(ids);
    expect((await all(list.pages())).map(({ data, hasNext }) => [data.length, hasNext])).toEqual([
      [2, true],
      [2, true],
      [1, false],
    ]);
    const first = await list.page();
    const second = await first.nextPage();
    expect(second?.data.map(({ id }) => id)).toEqual(ids.slice(2, 4));
    const rest = ostiary.payments.list({ limit: 2, cursor: second?.body.nextCursor ?? '' });
    expect((await all(rest)).map(({ id }) => id)).toEqual(ids.slice(4));
    expect(await (await rest.page()).nextPage()).toBeNull();
    const { response } = await list.page().withResponse();
    expect(response.status).toBe(200);
  });

  it('of events continue at the cursor of the reader', async () => {
    const { ostiary } = await partner();
    for (let index = 0; index < 5; index += 1) await ostiary.sandbox.triggerEvent({ type: 'webhook.test' });
    const sequences = (await all(ostiary.events.list({ limit: 2 }))).map(({ sequence }) => sequence);
    expect(sequences).toEqual([1, 2, 3, 4, 5]);
    expect(await all(ostiary.events.list({ after: 4 }))).toMatchObject([{ sequence: 5 }]);
  });

  it('request nothing before they are read, and no more pages than are read', async () => {
    const page = { data: [{ id: 'tr_1' }, { id: 'tr_2' }], nextCursor: 'next' };
    const { ostiary, seen } = await against([answer(200, page), answer(200, page)]);
    const list = ostiary.payments.list({ status: 'pending' });
    expect(seen).toEqual([]);
    for await (const { id } of list) if (id === 'tr_2') break;
    expect(seen.map(({ path }) => path)).toEqual(['/v1/partner/payments?status=pending']);
  });
});

const description = 'Pò a, 薪水, 😀';
const bytes = Buffer.from(JSON.stringify({ id: 'tr_1', description }));

describe('a response that arrives in parts', () => {
  it.each([
    ['at once', bytes.length],
    ['in parts that end in the middle of a character', 3],
    ['byte by byte', 1],
  ])('that comes %s is read as it was sent', async (_name, size) => {
    const { ostiary } = await against([
      async (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req-1' });
        for (let start = 0; start < bytes.length; start += size) {
          await new Promise((written) => response.write(bytes.subarray(start, start + size), written));
          // Lets the parts arrive separately.
          await new Promise((turn) => setImmediate(turn));
        }
        response.end();
      },
    ]);
    const { data, response } = await ostiary.payments.retrieve('tr_1').withResponse();
    expect(data.description).toBe(description);
    expect(response.text).toBe(bytes.toString());
  });
});
