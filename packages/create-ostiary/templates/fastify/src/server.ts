import { createApp } from './app.ts';
import { provisionDemoClient } from './demo-client.ts';
import { openOstiary } from './ostiary.ts';
import { port } from './settings.ts';

const ostiary = await openOstiary();
await provisionDemoClient(ostiary);
ostiary.worker.start(); // removes old rows
const app = createApp(ostiary);
await app.listen({ port, host: '0.0.0.0' });

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await app.close();
    await ostiary.close();
  });
