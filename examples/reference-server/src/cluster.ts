/*
 * Several processes on one machine, with Node's `cluster`. The primary process starts as many web processes
 * as configured and, unless the role is `web`, a worker beside them, and starts again what dies. It serves only
 * the metrics of all processes itself. It accepts other connections and hands them on in turns.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServerConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import { createLogger } from './http/logging.ts';
import type { Order } from './lifecycle.ts';
import { serveMetrics } from './metrics/metrics.ts';
import { together } from './metrics/together.ts';

/**
 * Pauses before a process that died is restarted, in milliseconds. Each pause is twice the previous one, up
 * to the longest. A process that had run for more than `longMs` is restarted after the first pause again.
 */
const [firstPauseMs, longestPauseMs, longMs] = [500, 30_000, 60_000];
/**
 * Time after which a process that does not stop is killed, in milliseconds, because others wait to be
 * replaced after it.
 */
const stuckMs = 60_000;
/** Time limit for a process to report its metrics, in milliseconds. */
const patienceMs = 2_000;

/** Name and role of a process. A process that replaces another gets the same name and role. */
interface Place {
  readonly name: string;
  readonly role: 'web' | 'worker';
}

interface Running {
  readonly worker: Worker;
  readonly startedAt: number;
  /** Resolves with true once the new process listens, or with false if the process ended before. */
  readonly listens: Promise<boolean>;
  readonly ended: Promise<unknown>;
}

function placesOf({ processes, role }: ServerConfig): Place[] {
  const webs = Array.from({ length: processes }, (_, at): Place => ({ name: `web-${at + 1}`, role: 'web' }));
  return role === 'all' ? [...webs, { name: 'worker', role: 'worker' }] : webs;
}

/** Returns the name that the primary process gave to this process; `undefined` without a primary. */
export const placeOfProcess = (): string | undefined => (cluster.isWorker ? process.argv[2] : undefined);

function launch({ name, role }: Place, logger: Logger): Running {
  cluster.setupPrimary({ args: [name] });
  // The worker only answers probes: the port or the socket belongs to the web processes.
  const address = role === 'worker' ? { HOST: '127.0.0.1', PORT: '0', OSTIARY_SOCKET: '' } : {};
  const worker = cluster.fork({ ...address, OSTIARY_PROCESSES: '1', OSTIARY_ROLE: role });
  // The process may end before it gets a message.
  worker.on('error', () => undefined);
  logger.info({ name, pid: worker.process.pid }, 'process started');
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  const listening = new Promise((resolve) => worker.once('listening', resolve));
  const listens = Promise.race([listening.then(() => true), ended.then(() => false)]);
  return { worker, startedAt: performance.now(), listens, ended };
}

/**
 * Starts the configured number of server processes. The signal SIGHUP replaces them one by one.
 *
 * @throws AddressError if the server of the metrics cannot listen at its address
 * @throws {@link ConfigError} if the first process does not start; the process has logged the reason
 */
export async function startProcesses(config: ServerConfig): Promise<{ close(): Promise<void> }> {
  const logger = createLogger(config.logLevel).child({ process: 'primary' });
  const places = placesOf(config);
  const current = new Map<Place, Running>();
  let closing: Promise<void> | undefined;

  /** Restarts a process after a crash, with the same name and role. */
  async function keep(place: Place): Promise<void> {
    for (let pauseMs = firstPauseMs; closing === undefined; ) {
      const running = current.get(place) ?? launch(place, logger);
      current.set(place, running);
      await running.ended;
      if (closing !== undefined || current.get(place) !== running) continue;
      if (performance.now() - running.startedAt > longMs) pauseMs = firstPauseMs;
      const { pid, exitCode, signalCode } = running.worker.process;
      logger.error(
        { name: place.name, pid, exitCode, signalCode, pauseMs },
        'a process ended; restarting it',
      );
      await delay(pauseMs);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
      if (current.get(place) === running) current.delete(place);
    }
  }

  /**
   * Replaces all processes, one by one. The new process listens before the old process stops, so that one is
   * always ready for requests.
   */
  async function replaceAll(): Promise<void> {
    for (const place of places) {
      if (closing !== undefined) return;
      const next = launch(place, logger);
      if (!(await next.listens)) {
        logger.error({ name: place.name }, 'the new process did not start; those that are there stay');
        return;
      }
      const before = current.get(place);
      current.set(place, next);
      before?.worker.send('leave' satisfies Order);
      const stuck = setTimeout(() => before?.worker.process.kill('SIGKILL'), stuckMs);
      await before?.ended;
      clearTimeout(stuck);
    }
    logger.info('every process is replaced');
  }

  /** Returns the metrics page of one process; an empty page if the process does not respond. */
  async function metricsOf(place: Place): Promise<[name: string, page: string]> {
    const worker = current.get(place)?.worker;
    const answer = worker && once(worker, 'message', { signal: AbortSignal.timeout(patienceMs) });
    worker?.send('metrics' satisfies Order);
    const [page = ''] = (await answer?.catch(() => null)) ?? [];
    return [place.name, page];
  }
  const allMetrics = async () => together(await Promise.all(places.map(metricsOf)));
  const metrics = config.metrics && (await serveMetrics(config.metrics, allMetrics));

  // Start one process first, so that a problem that concerns all of them is reported once.
  for (const place of places) {
    const running = launch(place, logger);
    current.set(place, running);
    if (current.size === 1 && !(await running.listens)) throw new ConfigError(`${place.name} did not start`);
  }
  for (const place of places) void keep(place);
  let replacing = Promise.resolve();
  process.on('SIGHUP', () => {
    replacing = replacing.then(replaceAll);
  });

  async function close(): Promise<void> {
    logger.info('closing');
    const alive = Object.values(cluster.workers ?? {}).filter((worker) => worker?.isDead() === false);
    const ends = alive.map((worker) => new Promise((resolve) => worker?.once('exit', resolve)));
    for (const worker of alive) worker?.process.kill('SIGTERM');
    await Promise.all(ends);
    await metrics?.close(1_000);
    logger.info('closed');
  }

  return {
    close() {
      closing ??= close();
      return closing;
    },
  };
}
