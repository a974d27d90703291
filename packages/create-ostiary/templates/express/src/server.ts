import express, { type Response } from 'express';
import type { Answer } from './answer.ts';
import { me } from './api.ts';
import { provisionDemoClient } from './demo-client.ts';
import { homePage, loginPage, signIn } from './login.ts';
import { openOstiary } from './ostiary.ts';
import { port } from './settings.ts';

const ostiary = await openOstiary();

function send(response: Response, { status, headers, body }: Answer): void {
  response.status(status).set(headers).end(body);
}

const app = express();
// Before the body parsers: signatures of the partner API are made of the bytes as they were sent.
app.use(ostiary.handler);
app.use(express.urlencoded({ extended: false, limit: '10kb' }));

app.get('/', (request, response) => send(response, homePage(request.headers.cookie)));
app.get('/login', (request, response) =>
  send(response, loginPage(request.headers.cookie, String(request.query.return_to ?? '/'))),
);
app.post('/login', async (request, response) =>
  send(response, await signIn(request.headers.cookie, request.body ?? {})),
);
app.get('/api/me', async (request, response) =>
  send(response, await me(ostiary, request.headers.authorization)),
);

await provisionDemoClient(ostiary);
ostiary.worker.start(); // removes old rows
const server = app.listen(port, (error) => {
  if (error !== undefined) throw error; // such as EADDRINUSE
});

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => server.close(() => void ostiary.close()));
