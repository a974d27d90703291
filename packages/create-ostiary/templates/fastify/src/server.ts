import { createApp } from './app.ts';
import { openOstiary } from './ostiary.ts';
import { keepAliveMs, port } from './settings.ts';

const ostiary = await openOstiary();
const app = createApp(ostiary);
app.server.keepAliveTimeout = keepAliveMs;
app.server.headersTimeout = keepAliveMs + 1_000;
await app.listen({ port, host: '0.0.0.0' });

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await app.close();
    await ostiary.close();
  });
