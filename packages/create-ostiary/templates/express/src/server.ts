import { createApp } from './app.ts';
import { openOstiary } from './ostiary.ts';
import { keepAliveMs, port } from './settings.ts';

const ostiary = await openOstiary();
const server = createApp(ostiary).listen(port, (error) => {
  if (error !== undefined) throw error; // such as EADDRINUSE
});
server.keepAliveTimeout = keepAliveMs;
server.headersTimeout = keepAliveMs + 1_000;

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => server.close(() => void ostiary.close()));
