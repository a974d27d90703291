import { createHash } from 'node:crypto';
import { sqliteStorage } from '../../src/index.ts';

// Asks for a transfer per idempotency key, all at once, and reports the answers.
const [file, name, count] = process.argv.slice(2);
const owner = { partner: 'acme', mode: 'live' } as const;

const storage = sqliteStorage({ file: String(file) });
await storage.open();
process.once('message', async () => {
  const answers = [];
  for (let number = 0; number < Number(count); number += 5) {
    const group = [0, 1, 2, 3, 4].map((offset) => {
      const key = `key ${number + offset}`;
      const id = `tr_${number + offset}_${name}`;
      return storage.transfers.create({
        transfer: {
          ...owner,
          id,
          status: 'pending',
          amount: 100n,
          currency: 'USD',
          recipientKid: 'kid-1',
          description: null,
          reference: `order ${number + offset}`,
          metadata: null,
          failure: null,
          createdAt: 1,
          updatedAt: 1,
          completedAt: null,
        },
        idempotency: {
          ...owner,
          key,
          fingerprint: createHash('sha256').update(key).digest(),
          answer: { status: 201, body: id },
          endsAt: 1000,
        },
        job: { id, kind: 'transfer', payload: { id }, dueAt: 1 },
        now: 1,
      });
    });
    answers.push(...(await Promise.all(group)));
  }
  await storage.close();
  process.send?.(answers, () => process.disconnect());
});
process.send?.('ready');
