/** Handles Web API requests with a Koa app, as `ostiary.fetch` does, and prints the results as JSON. */
import { Readable } from 'node:stream';
import Koa from 'koa';
import { createFetchHandler } from '../../../../packages/core/src/http/web.ts';

const site = 'https://id.example';
const chunk = 'x'.repeat(1024);
let produced = 0;

async function* manyChunks(): AsyncGenerator<string> {
  while (produced < 10_000) {
    produced += 1;
    yield chunk;
  }
}

function read(request: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => resolve(Buffer.concat(parts).toString())).on('error', reject);
  });
}

const app = new Koa();
app.on('error', () => {});
app.use(async (ctx) => {
  if (ctx.path === '/many') {
    ctx.body = Readable.from(manyChunks(), { objectMode: false });
    return;
  }
  ctx.set('X-Address', String(ctx.req.socket.remoteAddress));
  ctx.cookies.set('one', '1');
  ctx.cookies.set('two', '2');
  ctx.body = { method: ctx.method, url: ctx.url, sent: await read(ctx.req) };
});
const handle = app.callback();
const fetch = createFetchHandler((request, response, next) => {
  if (next !== undefined && request.url?.startsWith('/v1/') !== true) return next();
  void handle(request, response);
});

async function shown(response: Response) {
  const { status, headers } = response;
  return [status, headers.get('x-address'), headers.getSetCookie().length, await response.text()];
}

/** Builds a request body of two parts, the second of which comes later. */
function slowBody(): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(encoder.encode('{"a":'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.enqueue(encoder.encode('1}'));
      controller.close();
    },
  });
}

/** Reads the beginning of a long response, and then cancels the response. */
async function readALittle() {
  const reader = (await fetch(new Request(`${site}/many`))).body?.getReader();
  await reader?.read();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const unread = produced;
  await reader?.cancel();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return { isBounded: unread < 1_000, hasEnded: produced < unread + 1_000 };
}

async function aborted(): Promise<string> {
  const control = new AbortController();
  const { signal } = control;
  const body = new ReadableStream({
    start: () => setTimeout(() => control.abort(new RangeError('enough')), 20),
  });
  const init = { method: 'POST', body, signal, duplex: 'half' } as RequestInit;
  return fetch(new Request(`${site}/v1/a`, init)).then(
    () => 'answered',
    (error: Error) => error.message,
  );
}

const post = { method: 'POST', body: slowBody(), duplex: 'half' } as RequestInit;
const next = () => new Response('of the host');
console.log(
  JSON.stringify({
    get: await shown(await fetch(new Request(`${site}/v1/a?b=c`), { address: '198.51.100.7' })),
    head: await shown(await fetch(new Request(`${site}/v1/a`, { method: 'HEAD' }))),
    post: await shown(await fetch(new Request(`${site}/v1/a`, post))),
    foreign: await shown(await fetch(new Request(`${site}/shop`), { next })),
    long: await readALittle(),
    aborted: await aborted(),
  }),
);
process.exit(0);
