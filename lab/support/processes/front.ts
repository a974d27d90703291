import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** What stands in front of the web processes: takes turns, and goes on when one of them is not there. */
export interface Front {
  /** Who answered, request by request. */
  readonly answeredBy: readonly string[];
  close(): Promise<void>;
}

/** A process behind it. */
export interface Upstream {
  readonly name: string;
  readonly origin: string;
}

/** Answers whether the process was there. What breaks later is a 502: it may have taken effect. */
function forward(
  { origin }: Upstream,
  { method, url = '/', headers, socket }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<boolean> {
  const hops = [headers['x-forwarded-for'], socket.remoteAddress].flat().filter(Boolean).join(', ');
  return new Promise((resolve) => {
    const options = { method, headers: { ...headers, 'x-forwarded-for': hops }, agent: false } as const;
    const forwarded = send(new URL(url, origin), options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
      resolve(true);
    });
    forwarded.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false);
      if (!response.headersSent) response.writeHead(502, { 'Retry-After': '1' });
      response.end();
      resolve(true);
    });
    forwarded.end(body);
  });
}

/** Listens on `port`. @param upstreams - those that are there now: looked at for each request */
export async function openFront(port: number, upstreams: Iterable<Upstream>): Promise<Front> {
  const answeredBy: string[] = [];
  let turn = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    if (body === null) return void response.destroy();
    turn += 1;
    const all = [...upstreams];
    const inTurn = all.map((_, at) => all[(turn + at) % all.length]).filter((one) => one !== undefined);
    for (const upstream of inTurn)
      if (await forward(upstream, request, body, response)) return void answeredBy.push(upstream.name);
    response.writeHead(503, { 'Retry-After': '1' }).end();
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    answeredBy,
    async close() {
      server.close().closeAllConnections();
    },
  };
}
