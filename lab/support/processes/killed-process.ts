import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary } from '@ostiary/core';
import type { Storage } from '@ostiary/core/storage';
import { migrate } from '../../../examples/reference-server/src/database/migrations.ts';
import { openSqlite, type SqliteDatabase } from '../../../examples/reference-server/src/database/sqlite.ts';
import type { Ends } from '../proof.ts';
import { options } from './cluster-options.ts';
import { type Forked, forked } from './forked.ts';

/** Longer than the lease of a job or a delivery. */
const clockStepMs = 31_000;

const script = new URL('./killed-host.ts', import.meta.url);

/** The one process of a proof: killed and started again on the same file, each time with a later clock. */
export class KilledProcess {
  readonly #settings: { readonly [name: string]: string };
  #starts = 0;
  #process: Forked;

  /** @param settings - its environment, besides `CLOCK_OFFSET_MS` */
  constructor(settings: { readonly [name: string]: string }) {
    this.#settings = settings;
    this.#process = this.#start();
  }

  /** Where it listens, once it does. */
  get origin(): Promise<string> {
    return this.#process.origin;
  }

  /** Kills the process without a warning and starts the next one. Resolves when that listens. */
  async kill(): Promise<void> {
    await this.origin;
    await this.#process.kill();
    this.#process = this.#start();
    await this.origin;
  }

  /** Kills it for good. */
  async stop(): Promise<void> {
    await this.origin.catch(() => undefined);
    await this.#process.kill();
  }

  #start(): Forked {
    const offset = this.#starts * clockStepMs;
    this.#starts += 1;
    return forked(script, { ...this.#settings, CLOCK_OFFSET_MS: String(offset) });
  }
}

/** A SQLite file with the tables of a host, and its administrator, who has no worker. */
export interface HostFile {
  readonly database: SqliteDatabase;
  readonly storage: Storage;
  readonly ostiary: Ostiary;
  /** Starts the process that serves the file, works on it, and is killed. */
  start(): KilledProcess;
}

/** Makes a new file. */
export async function openHost(ends: Ends): Promise<HostFile> {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-proof-'));
  ends.add(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'ostiary.db');
  const sealingKey = randomBytes(32).toString('base64url');
  const database = await openSqlite(file);
  ends.add(() => database.close());
  await migrate(database, Date.now());
  const storage = sqliteStorage({ file });
  const ostiary = await createOstiary(options(storage, { sealingKey }));
  ends.add(() => ostiary.close());
  return {
    ...{ database, storage, ostiary },
    start() {
      const started = new KilledProcess({ DATABASE_FILE: file, SEALING_KEY: sealingKey });
      ends.add(() => started.stop());
      return started;
    },
  };
}
