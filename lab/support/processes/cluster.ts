import type { PartnerLimits } from '@ostiary/core';
import { insist } from '../insist.ts';
import type { ClaimReport } from '../measure/claim-records.ts';
import type { Time } from './cluster-options.ts';
import { type Forked, forked } from './forked.ts';

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

/** A process that is killed and started again. */
export class ClusterProcess {
  readonly name: string;
  readonly role: ProcessSettings['role'];
  /** Whether it ended by itself. */
  failure: string | null = null;
  readonly #settings: ProcessSettings;
  #process: Forked | null = null;
  /** Those that did not end by themselves. */
  readonly #killed = new WeakSet<Forked>();
  #origin: Promise<string>;
  /** Where a web process listened last. */
  #lastOrigin = '';

  constructor(name: string, settings: ProcessSettings) {
    this.name = name;
    this.role = settings.role;
    this.#settings = settings;
    this.#origin = insist(() => this.#start());
  }

  /** Resolves when it is up. */
  get started(): Promise<string> {
    return this.#origin;
  }

  /** Where it is, or was before it was killed: a client does not know either. */
  get origin(): string {
    return this.#lastOrigin;
  }

  /** Kills it without a warning and starts the next one. Resolves when that is up. */
  async kill(): Promise<void> {
    await this.#origin;
    await this.#end();
    this.#origin = insist(() => this.#start());
    await this.#origin;
  }

  /** Kills it for good. */
  async stop(): Promise<void> {
    await this.#origin.catch(() => undefined);
    await this.#end();
  }

  async tell(order: Order): Promise<unknown> {
    await this.#origin;
    const child = this.#process?.child;
    if (child === undefined) throw new Error(`${this.name} is gone`);
    const answered = new Promise<unknown>((resolve) => {
      const listen = (message: { readonly order?: Order; readonly answer?: unknown }) => {
        if (message.order !== order) return;
        child.off('message', listen);
        resolve(message.answer);
      };
      child.on('message', listen);
    });
    child.send(order);
    return answered;
  }

  /** What it held, and how long its claims took, since it was asked last. */
  async report(): Promise<ClaimReport> {
    return (await this.tell('report')) as ClaimReport;
  }

  /** As whoever runs processes does: one that could not start is started again. */
  async #start(): Promise<string> {
    const process = forked(script, { SETTINGS: JSON.stringify(this.#settings) });
    this.#process = process;
    const origin = await process.origin;
    void process.ended.then((end) => {
      if (!this.#killed.has(process)) this.failure = `${this.name} ended with ${end}`;
    });
    this.#lastOrigin = origin;
    return origin;
  }

  async #end(): Promise<void> {
    const process = this.#process;
    if (process === null) return;
    this.#killed.add(process);
    await process.kill();
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
    const start = (role: ProcessSettings['role'], count: number) =>
      Array.from(
        { length: count },
        (_, index) => new ClusterProcess(`${role} ${index + 1}`, { ...settings, role }),
      );
    this.webs = start('web', size.webs);
    this.workers = start('worker', size.workers);
  }

  get processes(): readonly ClusterProcess[] {
    return [...this.webs, ...this.workers];
  }

  async started(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.started));
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.stop()));
  }
}
