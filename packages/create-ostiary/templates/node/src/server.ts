import { createServer, type IncomingMessage } from 'node:http';
import type { Answer } from './answer.ts';
import { me } from './api.ts';
import { provisionDemoClient } from './demo-client.ts';
import { homePage, loginPage, signIn } from './login.ts';
import { openOstiary } from './ostiary.ts';
import { port } from './settings.ts';

const ostiary = await openOstiary();

async function formOf(request: IncomingMessage): Promise<Record<string, string>> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 10_000) throw new Error('this is no login form');
  }
  return Object.fromEntries(new URLSearchParams(body));
}

async function answer(request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const { cookie, authorization } = request.headers;
  switch (`${request.method} ${pathname}`) {
    case 'GET /':
      return homePage(cookie);
    case 'GET /login':
      return loginPage(cookie, searchParams.get('return_to') ?? '/');
    case 'POST /login':
      return signIn(cookie, await formOf(request));
    case 'GET /api/me':
      return me(ostiary, authorization);
    default:
      return { status: 404, headers: {}, body: 'Not found' };
  }
}

const server = createServer((request, response) =>
  // Ostiary answers its own paths, and hands every other request on.
  ostiary.handler(request, response, () => {
    answer(request).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      (error) => {
        console.error(error);
        response.writeHead(500).end();
      },
    );
  }),
);

await provisionDemoClient(ostiary);
ostiary.worker.start(); // removes old rows
server.listen(port);

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => server.close(() => void ostiary.close()));
