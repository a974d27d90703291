import { sqliteStorage } from '../../src/index.ts';

// Enqueues numbered jobs, and reports each stored number to the parent, until it is killed.
const storage = sqliteStorage({ file: String(process.argv[2]) });
await storage.open();
for (let number = 0; process.connected; number += 1) {
  await storage.queue.enqueue([{ id: String(number), kind: 'note', payload: {}, dueAt: 0 }]);
  process.send?.(number);
}
