import { createServer } from 'node:http';
import { createApp } from './app.ts';
import { openOstiary } from './ostiary.ts';
import { keepAliveMs, port } from './settings.ts';

const ostiary = await openOstiary();
const server = createServer(createApp(ostiary)).listen(port);
server.keepAliveTimeout = keepAliveMs;
server.headersTimeout = keepAliveMs + 1_000;

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => server.close(() => void ostiary.close()));
