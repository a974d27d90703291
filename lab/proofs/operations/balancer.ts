import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { isReady, type ReferenceProcess } from '../../support/processes/reference-process.ts';

/** What stands in front of web processes. */
export interface Balancer {
  /** How many requests each process has answered. */
  readonly answered: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** How often `/readyz` is asked: less than half of the second for which a process that ends goes on answering. */
const probeMs = 250;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Answers whether the process was there. A connection that breaks later is a 502: the request may have taken effect. */
function forward(
  origin: string,
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): Promise<boolean> {
  const headers = { ...request.headers, 'x-forwarded-for': request.socket.remoteAddress ?? '' };
  return new Promise((resolve) => {
    const forwarded = send(new URL(request.url ?? '/', origin), {
      method: request.method,
      headers,
      agent: false,
    });
    forwarded.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return resolve(false);
      if (!response.headersSent) response.writeHead(502);
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

/**
 * A load balancer as it is usually set up: it takes turns among the processes whose `/readyz` says so, and asks another one when
 * nobody takes the connection. It never sends a request again that a process has taken.
 */
export async function openBalancer(port: number, processes: readonly ReferenceProcess[]): Promise<Balancer> {
  const answered = new Map(processes.map(({ name }) => [name, 0]));
  const ready = new Set(processes);
  let turn = 0;
  const probe = setInterval(() => {
    for (const one of processes) {
      void isReady(one.origin).then((is) => (is ? ready.add(one) : ready.delete(one)));
    }
  }, probeMs);
  const server = createServer(async (request, response) => {
    try {
      const body = await bodyOf(request);
      turn += 1;
      const candidates = [...ready];
      for (const at of candidates.keys()) {
        const one = candidates[(turn + at) % candidates.length];
        if (one === undefined || !(await forward(one.origin, request, body, response))) continue;
        answered.set(one.name, (answered.get(one.name) ?? 0) + 1);
        return;
      }
      response.writeHead(503).end('nobody is ready');
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    answered,
    close: () =>
      new Promise((resolve) => {
        clearInterval(probe);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
