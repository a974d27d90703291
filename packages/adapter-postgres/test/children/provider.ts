import { startProvider } from '../provider.ts';

// A provider in a process of its own, until it is told to stop; reports where it listens.
const [url = '', schema = '', sealingKey = ''] = process.argv.slice(2);
const { origin, stop } = await startProvider({ url, schema, sealingKey });
process.once('message', async () => {
  await stop();
  process.disconnect();
});
process.send?.(origin);
