import { randomBytes } from 'node:crypto';
import type { Front } from '../../../examples/demo/src/cluster/front.ts';
import { freePorts } from '../../../examples/demo/src/free-ports.ts';
import {
  createLogger,
  type Installation,
  loadConfig,
  openInstallation,
} from '../../../examples/reference-server/src/index.ts';
import { openBalancer } from '../../support/processes/balancer.ts';
import { ReferenceProcess } from '../../support/processes/reference-process.ts';

/** The reference server as a team deploys it: processes behind a load balancer. */
export interface Deployment {
  /** Where everybody goes. */
  readonly authUrl: string;
  /** The settings that all processes share. Another sealing key changes them. */
  env: Readonly<Record<string, string>>;
  readonly sealingKey: string;
  readonly webs: readonly ReferenceProcess[];
  readonly workers: readonly ReferenceProcess[];
  readonly balancer: Front;
  stop(): Promise<void>;
}

/** How many processes there are of each kind. `all` is one process that does everything, as on SQLite. */
export type Size = { readonly webs: number; readonly workers: number } | 'all';

export function newSealingKey(): string {
  return randomBytes(32).toString('base64url');
}

/** Starts everything on a database, which `store` names. */
export async function deploy(
  size: Size,
  store: Readonly<Record<string, string>>,
  sealingKey = newSealingKey(),
): Promise<Deployment> {
  const [webCount, workerCount] = size === 'all' ? [1, 0] : [size.webs, size.workers];
  const [front = 0, ...ports] = await freePorts(1 + webCount + workerCount);
  const authUrl = `http://localhost:${front}`;
  const env = {
    ...store,
    NODE_ENV: 'development',
    OSTIARY_AUTH_URL: authUrl,
    OSTIARY_SEALING_KEYS: sealingKey,
    OSTIARY_TRUSTED_PROXIES: '127.0.0.1',
    OSTIARY_DRAIN_SECONDS: '1',
    OSTIARY_LOG_LEVEL: 'fatal',
  };
  const processes = (role: string, from: number, count: number) =>
    Array.from(
      { length: count },
      (_, index) =>
        new ReferenceProcess(`${role} ${index + 1}`, ports[from + index] ?? 0, {
          ...env,
          OSTIARY_ROLE: role,
        }),
    );
  const webs = processes(size === 'all' ? 'all' : 'web', 0, webCount);
  const workers = processes('worker', webCount, workerCount);
  const everybody = [...webs, ...workers];
  const stopAll = () => Promise.all(everybody.map((one) => one.stop()));
  try {
    await Promise.all(everybody.map((one) => one.start()));
    const balancer = await openBalancer(front, webs);
    return {
      ...{ authUrl, env, sealingKey, webs, workers, balancer },
      async stop() {
        await balancer.close();
        await stopAll();
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** Does something as an administrator's command does: in another process than the servers', with their environment. */
export async function administer<Result>(
  env: Readonly<Record<string, string>>,
  act: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const installation = await openInstallation(loadConfig({ ...env }), createLogger('silent'));
  try {
    return await act(installation);
  } finally {
    await installation.close();
  }
}
