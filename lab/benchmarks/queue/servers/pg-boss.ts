import { PgBoss } from 'pg-boss';
import { settings } from '../../../support/processes/control.ts';
import { pgBossSettings } from '../contestants.ts';
import { bodyOf } from '../fixture.ts';
import { type ContestantSettings, serveContestant } from './contestant.ts';
import { type Job, postAll } from './post.ts';

const { sink, database, setting } = settings<ContestantSettings>();
const url = `http://127.0.0.1:${sink}/hook`;
const queue = 'deliveries';
const { batchSize, localConcurrency, posts } = pgBossSettings[setting] ?? pgBossSettings[0];
const boss = new PgBoss({ connectionString: database ?? '', useListenNotify: true });
boss.on('error', (error) => console.error(error));
await boss.start();

await serveContestant({
  async prepare() {
    await boss.createQueue(queue, { notify: true });
  },
  async prefill(ids) {
    await boss.insert(
      queue,
      ids.map((id) => ({ data: { id, body: bodyOf(id) } })),
    );
  },
  async publish(id) {
    await boss.send(queue, { id, body: bodyOf(id) });
    return id;
  },
  async start() {
    await boss.work<Job>(
      queue,
      { batchSize, localConcurrency, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
      async (jobs) => {
        await postAll(
          url,
          jobs.map(({ data }) => data),
          posts,
        );
      },
    );
  },
  async stop() {
    await boss.offWork(queue);
  },
});
