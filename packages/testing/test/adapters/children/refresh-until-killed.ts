import { once } from 'node:events';
import { refresh } from '../../../src/contract/samples.ts';
import { args, storage } from './storage.ts';

// Refreshes one family again and again, and reports the number of the client's token before each use.
const [family] = args;

await storage.open();
const told = once(process, 'message');
process.send?.('ready');
await told;
for (let use = 1; ; use += 1) {
  await new Promise((resolve) => process.send?.(use, resolve));
  const answer = await refresh(storage, `${family} ${use}`, `${family} ${use + 1}`);
  if (answer !== 'refreshed') throw new Error(`use ${use} was ${answer}`);
}
