// A worker that delivers webhooks, as a process of its own that can be killed. Started by `KilledProcess`, never imported.
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { serveForked } from '../../support/processes/served.ts';
import { options } from './provider.ts';

const { DATABASE_FILE: file = '', SEALING_KEY: sealingKey = '', CLOCK_OFFSET_MS: offset = '0' } = process.env;

// Each start lives later than the one before, so that a lease which a killed process held is over.
const ostiary = await createOstiary(
  options(sqliteStorage({ file }), sealingKey, () => Date.now() + Number(offset)),
);
ostiary.worker.start();
await serveForked(ostiary, 'at once');
