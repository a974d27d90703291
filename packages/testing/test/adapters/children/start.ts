import { args, storage, whenAllAreReady } from './storage.ts';

// Opens the database together with other processes, and writes one job.
whenAllAreReady(async () => {
  await storage.open();
  await storage.queue.enqueue([{ id: String(args[0]), kind: 'start', payload: {}, dueAt: 0 }]);
});
