import { postgresStorage } from '../../src/index.ts';

// Opens the schema together with other processes, writes one job, and closes.
const [connectionString, schema, id] = process.argv.slice(2);
const storage = postgresStorage({ connectionString: String(connectionString), schema: String(schema) });
process.send?.('ready');
process.once('message', async () => {
  await storage.open();
  await storage.queue.enqueue([{ id: String(id), kind: 'start', payload: {}, dueAt: 0 }]);
  await storage.close();
  process.disconnect();
});
