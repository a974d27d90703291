import type { PartnerLimits } from '@ostiary/core';
import type { ClaimReport } from '../measure/claim-records.ts';
import type { Time } from './cluster-options.ts';
import { KilledProcess } from './killed-process.ts';

/** What a process of a cluster is started with. */
export interface ProcessSettings {
  readonly role: 'web' | 'worker';
  readonly databaseUrl: string;
  readonly railUrl: string;
  readonly sealingKey: string;
  readonly time: Time;
  readonly poolSize: number;
  /** Whether a worker begins when it is started, or when it is told to. */
  readonly isWorking: boolean;
  readonly partnerLimits?: PartnerLimits;
}

/** What a process can be told. */
export type Order =
  | 'takeConnections'
  | 'giveConnectionsBack'
  | 'startWorker'
  | 'stopWorker'
  | 'runDue'
  | 'report';

const script = new URL('./cluster-process.ts', import.meta.url);

/** One of the processes. */
export class ClusterProcess extends KilledProcess {
  constructor(name: string, settings: ProcessSettings) {
    super(name, script, () => ({ SETTINGS: JSON.stringify(settings) }));
  }

  override tell(order: Order): Promise<unknown> {
    return super.tell(order);
  }

  /** What it held, and how long its claims took, since it was asked last. */
  async report(): Promise<ClaimReport> {
    return (await this.tell('report')) as ClaimReport;
  }
}

/** Web processes and workers on one database. */
export class Cluster {
  readonly webs: readonly ClusterProcess[];
  readonly workers: readonly ClusterProcess[];

  constructor(
    size: { readonly webs: number; readonly workers: number },
    settings: Omit<ProcessSettings, 'role'>,
  ) {
    const start = (role: ProcessSettings['role'], length: number) =>
      Array.from({ length }, (_, index) => new ClusterProcess(`${role} ${index + 1}`, { ...settings, role }));
    this.webs = start('web', size.webs);
    this.workers = start('worker', size.workers);
  }

  get processes(): readonly ClusterProcess[] {
    return [...this.webs, ...this.workers];
  }

  /** Tells every worker the same. */
  async tellWorkers(order: Order): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.tell(order)));
  }

  /** What every worker held and claimed since it was asked last. */
  reports(): Promise<ClaimReport[]> {
    return Promise.all(this.workers.map((worker) => worker.report()));
  }

  async started(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.started));
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.stop()));
  }
}
