import { createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import type { ConsoleBackend, ConsoleVisit, PartnerConsole } from '../../../src/console.ts';
import type { Json, TestKey } from '../../support/provider.ts';
import { afterwards } from '../../support/running.ts';
import { shop } from '../webhook-shop.ts';

/** Starts an endpoint that records all received bytes, and responds with a status. */
async function wire() {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const self = { requests, url: '', status: 500 };
  const server = createServer((socket) => {
    sockets.add(socket);
    let read = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      read += text;
      const [head = '', body] = read.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      requests.push(read);
      read = '';
      socket.write(`HTTP/1.1 ${self.status} x\r\ncontent-length: 0\r\n\r\n`);
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  afterwards(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  self.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hook/%C3%A9?q=[1]`;
  return self;
}

/** Fields of an earlier attempt that the page shows. */
interface Shown {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  readonly changedAt: string | null;
}

/** Starts a shop with a console that reads the deliveries of an event on behalf of a key. */
async function reader() {
  let backend: ConsoleBackend | undefined;
  let visit: ConsoleVisit | null = null;
  const console: PartnerConsole = {
    opensWith: { scope: 'webhooks', testOnly: false },
    pages(given) {
      backend = given;
      const path = '/desk';
      return [
        {
          ...{ path, summary: 'A page.' },
          async GET(request) {
            const { session } = await given.signIn(request.query.get('key') ?? '', request);
            visit = await given.visit(session, request);
            return { status: 200 };
          },
        },
      ];
    },
  };
  const place = await shop({ console, webhooks: { retryDelaysSeconds: [60, 60] } });
  return {
    ...place,
    backend: () => backend,
    async read(key: TestKey, id: string, query = {}): Promise<(Shown | null)[][]> {
      await fetch(`${place.provider.origin}/desk?key=${key.key}`);
      const answer = await visit?.call('listEventDeliveries', { path: { id }, query });
      const { data } = answer as { data: { attempts: { request: Shown | null }[] }[] };
      return data.map(({ attempts }) => attempts.map(({ request }) => request));
    },
  };
}

/** Formats a request as it is sent over the wire. */
function textOf({ method, url, headers, body }: Shown): string {
  const { pathname, search } = new URL(url);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

it('the request of each attempt is shown byte for byte as the endpoint got it', async () => {
  const { provider, key, call, register, work, read } = await reader();
  const endpoint = await wire();
  await register(endpoint.url);
  const data = { message: 'é 🗝️ "\u2028" $HOME `x` \\' };
  const event = (await call('POST /v1/partner/sandbox/events', { type: 'webhook.test', data })).json();
  await work();
  provider.clock.advance(61_234);
  await work();
  endpoint.status = 204;
  provider.clock.advance(60_000);
  await work();
  expect(endpoint.requests).toHaveLength(3);
  const [attempts = []] = await read(key, String(event.id));
  expect(attempts.map((request) => request && textOf(request))).toEqual(endpoint.requests);
  const numbers = endpoint.requests.map((text) => /x-svc-attempt: (\d+)/i.exec(text)?.[1]);
  expect(numbers).toEqual(['1', '2', '3']);
  expect(new Set(endpoint.requests.map((text) => /x-svc-signature: (\w+)/i.exec(text)?.[1])).size).toBe(3);
  expect(attempts.map((request) => request?.changedAt)).toEqual([null, null, null]);
});

it('says when the endpoint was changed after the attempt, or no more than a second before it', async () => {
  const { provider, key, call, register, trigger, work, read } = await reader();
  const endpoint = await wire();
  const id = await register(endpoint.url);
  const event = String((await trigger()).id);
  // Registering an endpoint does not count as a change of it.
  await work();
  const changedAt = async () => (await read(key, event))[0]?.map((request) => request?.changedAt ?? null);
  expect(await changedAt()).toEqual([null]);
  provider.clock.advance(59_500);
  await call(`PATCH /v1/partner/webhooks/${id}`, { url: `${endpoint.url}&new` });
  const change = new Date(provider.clock.now()).toISOString();
  provider.clock.advance(500);
  await work();
  provider.clock.advance(60_000);
  await work();
  expect(await changedAt()).toEqual([change, change, null]);
  const [[first] = []] = await read(key, event);
  expect(first?.url).toBe(`${endpoint.url}&new`);
  await call(`DELETE /v1/partner/webhooks/${id}`);
  expect(await read(key, event)).toEqual([[null, null, null]]);
});

it('signs nothing for other partners, and nothing in live mode', async () => {
  const { provider, key, call, register, trigger, work, read } = await reader();
  const endpoint = await wire();
  const secret = 'whsec_of_this_test_alone';
  const id = await register(endpoint.url, { secret, events: ['*'] });
  const event = String((await trigger()).id);
  await work();
  expect(JSON.stringify(await read(key, event))).not.toContain(secret);
  expect(await read(key, event, { endpointId: id })).toEqual(await read(key, event));
  expect(await read(key, event, { endpointId: `we_${'0'.repeat(32)}` })).toEqual([]);
  const stranger = await provider.key({ mode: 'test' });
  expect(await read(stranger, event)).toEqual([]);
  const live = await provider.key({ partner: key.partner });
  expect(await read(live, event)).toEqual([]);

  await register(endpoint.url, { secret, events: ['*'] }, live);
  const payment: Json = { amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } };
  const { id: transfer } = (await call('POST /v1/partner/payments', payment, live)).json();
  await provider.ostiary.payments.settle(String(transfer), { status: 'completed' });
  await work();
  const { data } = (await call('GET /v1/partner/events', undefined, live)).json() as { data: Json[] };
  const requests = await read(live, String(data[0]?.id));
  expect(requests).toEqual([[null]]);
});
