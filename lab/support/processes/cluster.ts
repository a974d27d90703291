import type { Hold } from '../measure/claim-records.ts';
import type { Time } from './cluster-options.ts';
import { KilledProcess } from './killed-process.ts';

/** Options of a process in a cluster. */
export interface ProcessSettings {
  readonly role: 'web' | 'worker';
  readonly databaseUrl: string;
  readonly railUrl: string;
  readonly sealingKey: string;
  readonly time: Time;
  /** True if the worker starts with the process, instead of on command. */
  readonly isWorking: boolean;
}

const script = new URL('./cluster-process.ts', import.meta.url);

/** Several web processes and workers on one database. */
export class Cluster {
  readonly webs: readonly KilledProcess[];
  readonly workers: readonly KilledProcess[];

  constructor(
    size: { readonly webs: number; readonly workers: number },
    {
      databaseUrls,
      ...settings
    }: Omit<ProcessSettings, 'role' | 'databaseUrl'> & {
      readonly databaseUrls: Readonly<Record<ProcessSettings['role'], string>>;
    },
  ) {
    const start = (role: ProcessSettings['role'], length: number) =>
      Array.from({ length }, (_, index) => {
        const own: ProcessSettings = { ...settings, role, databaseUrl: databaseUrls[role] };
        return new KilledProcess(`${role} ${index + 1}`, script, () => own);
      });
    this.webs = start('web', size.webs);
    this.workers = start('worker', size.workers);
  }

  get processes(): readonly KilledProcess[] {
    return [...this.webs, ...this.workers];
  }

  /** Sends every worker the same message. */
  async tellWorkers(order: 'startWorker' | 'stopWorker'): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.ask(order)));
  }

  /** Returns which deliveries all workers have claimed since the last call. */
  async holds(): Promise<Hold[]> {
    const held = await Promise.all(this.workers.map((worker) => worker.ask<Hold[]>('takeHolds')));
    return held.flat();
  }

  async started(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.started));
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.stop()));
  }
}
