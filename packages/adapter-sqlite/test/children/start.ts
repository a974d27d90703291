import { sqliteStorage } from '../../src/index.ts';

// Opens the database together with other processes, writes one job, and closes.
const [file, id] = process.argv.slice(2);
const storage = sqliteStorage({ file: String(file) });
process.send?.('ready');
process.once('message', async () => {
  await storage.open();
  await storage.queue.enqueue([{ id: String(id), kind: 'start', payload: {}, dueAt: 0 }]);
  await storage.close();
  process.disconnect();
});
