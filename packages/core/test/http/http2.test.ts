import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { manyPages } from '../payments/books.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { tokenRequest } from '../support/provider.ts';
import { afterwards } from '../support/running.ts';

type Handler = NonNullable<Parameters<typeof createServer>[1]>;

const { provider } = await partnerProvider();
const { key } = await provider.key();

// Cast, because Node's types do not declare that its HTTP/2 requests are compatible with those of HTTP/1.
const server = createServer(provider.ostiary.handler as unknown as Handler);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
afterwards(async () => {
  session.close();
  await new Promise((closed) => server.close(closed));
});

/** Sends a request over HTTP/2. If it has a body, the headers state no length. */
async function ask(target: string, body: string | null = null, headers: Record<string, string> = {}) {
  const [method = '', path = ''] = target.split(' ');
  const stream = session.request(
    { ':method': method, ':path': path, 'x-api-key': key, ...headers },
    { endStream: body === null },
  );
  const responded = once(stream, 'response') as Promise<[IncomingHttpHeaders]>;
  if (body !== null) stream.end(body);
  const [[response], answer] = await Promise.all([responded, text(stream)]);
  return { status: response[':status'], body: answer === '' ? null : JSON.parse(answer) };
}

const json = { 'content-type': 'application/json' };

it('a body over HTTP/2 is read, though no header announces it', async () => {
  const created = await ask('POST /v1/partner/payments', JSON.stringify(payment), json);
  expect(created).toMatchObject({ status: 201, body: { amount: '125.00' } });
  const client = await provider.client();
  const exchange = JSON.stringify(tokenRequest(client, 'no code'));
  expect(await ask('POST /v1/oauth/token', exchange, json)).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  });
  const long = JSON.stringify({ ...payment, description: 'x'.repeat(70_000) });
  expect(await ask('POST /v1/partner/payments', long, json)).toMatchObject({ status: 413 });
});

it('a request without a body over HTTP/2 gets a response as such', async () => {
  expect(await ask('GET /v1/partner/payments')).toMatchObject({ status: 200 });
  expect(await ask('GET /v1/partner/whoami', '')).toMatchObject({ status: 200 });
  expect(await ask('GET /v1/partner/whoami', '{}')).toMatchObject({
    status: 400,
    body: { message: 'This endpoint takes no body.' },
  });
  const missing = await ask('POST /v1/partner/payments', null, json);
  expect(missing).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
});

it('an export that breaks off over HTTP/2 is an error of its stream, and of no other', async () => {
  const books = await manyPages();
  const server = createServer(books.provider.ostiary.handler as unknown as Handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(async () => {
    session.close();
    await new Promise((closed) => server.close(closed));
  });
  const get = (path: string) => session.request({ ':path': path, 'x-api-key': books.key });
  const stream = get('/v1/partner/reconciliation?date=2024-01-01');
  await once(stream, 'response');
  books.pages.breakAfter = books.pages.asked;
  await expect(text(stream)).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' });
  expect(JSON.parse(await text(get('/v1/partner/whoami')))).toMatchObject({ mode: 'live' });
});
