import { sqliteStorage } from '../../src/index.ts';

// Publishes its events while it delivers what is due, and reports the deliveries whose results counted, batch by
// batch, until nothing is left or it is killed.
const [file, name, count] = process.argv.slice(2);
const owner = { partner: 'acme', mode: 'live' } as const;

const storage = sqliteStorage({ file: String(file) });
await storage.open();
process.once('message', async () => {
  for (let round = 0; ; round += 1) {
    if (round < Number(count)) {
      const id = `${name}_${round}`;
      const event = {
        ...owner,
        id: `evt_${id}`,
        type: 'note',
        body: '{}',
        createdAt: 1,
        deliveryId: `dl_${id}`,
      };
      await storage.events.publish([event], { idempotency: null, now: 1 });
    }
    const claimed = await storage.deliveries.claim({
      claimId: `${name} ${round}`,
      now: 1,
      leaseMs: 1000,
      limit: 8,
      room: 2,
      rooms: new Map(),
    });
    if (claimed.length === 0 && round >= Number(count)) break;
    const counted = await storage.deliveries.finish(
      claimed.map(({ id, claimId, attempt: number }) => ({
        id,
        claimId,
        attempt: { number, at: 1, durationMs: 0, httpStatus: 200, error: null, response: '' },
        next: { status: 'delivered' },
      })),
    );
    process.send?.(claimed.map(({ id }) => id).filter((_, index) => counted[index]));
  }
  await storage.close();
  process.disconnect();
});
process.send?.('ready');
