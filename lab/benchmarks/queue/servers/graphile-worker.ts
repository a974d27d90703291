import { Logger, makeWorkerUtils, type Runner, run } from 'graphile-worker';
import { settings } from '../../../support/processes/control.ts';
import { graphileSettings } from '../contestants.ts';
import { bodyOf, inFlight } from '../fixture.ts';
import { type ContestantSettings, serveContestant } from './contestant.ts';
import { type Job, post } from './post.ts';

const { sink, database, setting } = settings<ContestantSettings>();
const url = `http://127.0.0.1:${sink}/hook`;
const identifier = 'deliver';
const { localQueue, completeJobBatchDelay } = graphileSettings[setting] ?? graphileSettings[0];
// Silence the logger, which writes a line for every job.
const logger = new Logger(() => () => undefined);
const preset = {
  worker: {
    connectionString: database ?? '',
    concurrentJobs: inFlight,
    maxPoolSize: inFlight + 2,
    localQueue: { size: localQueue },
    completeJobBatchDelay,
    failJobBatchDelay: completeJobBatchDelay,
    logger,
  },
};
const utils = await makeWorkerUtils({ preset });
let runner: Runner | null = null;

await serveContestant({
  prepare: () => utils.migrate(),
  async prefill(ids) {
    await utils.addJobs(ids.map((id) => ({ identifier, payload: { id, body: bodyOf(id) } })));
  },
  async publish(id) {
    await utils.addJob(identifier, { id, body: bodyOf(id) });
    return id;
  },
  async start() {
    runner = await run({
      preset,
      noHandleSignals: true,
      taskList: { [identifier]: (payload) => post(url, payload as Job) },
    });
  },
  async stop() {
    await runner?.stop();
  },
});
