import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';

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

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Answers whether the process was there. What breaks later is a 502: it may have taken effect. */
function forward(
  { origin }: Upstream,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<boolean> {
  const { method, socket } = request;
  const hops = [request.headers['x-forwarded-for'], socket.remoteAddress]
    .flat()
    .filter((hop) => hop !== undefined);
  const headers = { ...request.headers, 'x-forwarded-for': hops.join(', ') };
  return new Promise((resolve) => {
    const forwarded = send(new URL(request.url ?? '/', origin), { method, headers, agent: false });
    forwarded.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false);
      if (!response.headersSent) response.writeHead(502, { 'Retry-After': '1' });
      response.end();
      resolve(true);
    });
    forwarded.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.once('error', () => response.destroy());
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
    const body = await bodyOf(request).catch(() => null);
    if (body === null) return void response.destroy();
    turn += 1;
    const candidates = [...upstreams];
    for (const at of candidates.keys()) {
      const upstream = candidates[(turn + at) % candidates.length];
      if (upstream === undefined || !(await forward(upstream, request, body, response))) continue;
      answeredBy.push(upstream.name);
      return;
    }
    response.writeHead(503, { 'Retry-After': '1' }).end();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    answeredBy,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
