import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { isReady, type ReferenceProcess } from './reference-process.ts';

/**
 * Interval between two requests of `/readyz`, in milliseconds: less than half of the second for which a
 * stopping process keeps serving requests.
 */
const probeMs = 250;

/**
 * Forwards a request to a process. Returns false if the process refused the connection. A connection that
 * breaks later is a 502, because the request may have taken effect.
 */
function forward(
  { origin }: ReferenceProcess,
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

/**
 * Starts a load balancer with the usual behaviour. The balancer takes turns among the processes that are
 * ready according to `/readyz`, and chooses another process if a connection is refused. A request that a
 * process has accepted is never repeated.
 */
export async function openBalancer(port: number, processes: readonly ReferenceProcess[]) {
  const ready = new Set(processes);
  const probe = setInterval(() => {
    for (const one of processes) {
      void isReady(one.origin).then((is) => (is ? ready.add(one) : ready.delete(one)));
    }
  }, probeMs);
  const answeredBy: string[] = [];
  let turn = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => null);
    if (body === null) return void response.destroy();
    turn += 1;
    const all = [...ready];
    const inTurn = all.map((_, at) => all[(turn + at) % all.length]).filter((one) => one !== undefined);
    for (const upstream of inTurn)
      if (await forward(upstream, request, body, response)) return void answeredBy.push(upstream.name);
    response.writeHead(503, { 'Retry-After': '1' }).end();
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    /** Names of the processes that responded to the balanced requests, in order. */
    answeredBy: answeredBy as readonly string[],
    async close(): Promise<void> {
      clearInterval(probe);
      server.close().closeAllConnections();
    },
  };
}
