import { serve } from '@hono/node-server';
import { createApp } from './app.ts';
import { openOstiary } from './ostiary.ts';
import { keepAliveMs, port } from './settings.ts';

const ostiary = await openOstiary();
const server = serve({
  fetch: createApp(ostiary).fetch,
  port,
  serverOptions: { keepAliveTimeout: keepAliveMs, headersTimeout: keepAliveMs + 1_000 },
});

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => server.close(() => void ostiary.close()));
