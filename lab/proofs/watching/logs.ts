import { startNetwork } from '../../support/network.ts';
import { type Disk, smallDisk } from '../../support/postgres/small-disk.ts';
import type { Claim } from '../../support/proof.ts';
import { rates, seconds, setWatchedStage, type WatchedStage } from './stage.ts';

/** Most bytes that the warnings and errors of a process may take per second of an outage. */
const mostBytes = 2_048;

/** Lowest level of the lines that are judged: warnings (pino). */
const warning = 40;

interface Line {
  readonly level: number;
  readonly msg: string;
}

interface Fault {
  readonly name: string;
  /** Part of a line that names the cause. */
  readonly cause: RegExp;
  /** Lasts for the given number of seconds. */
  make(forSeconds: number): Promise<void>;
}

/** Reads the warnings and errors of a log. */
function troubleIn(log: string): readonly string[] {
  return log.split('\n').filter((line) => line !== '' && (JSON.parse(line) as Line).level >= warning);
}

const bytesOf = (lines: readonly string[]): number => Buffer.byteLength(lines.join('\n'));

/** Causes a fault under load, and measures what both processes log meanwhile. */
async function proveFault({ web, worker }: WatchedStage, fault: Fault, forSeconds: number): Promise<Claim> {
  for (const one of [web, worker]) one.takeLog();
  const start = performance.now();
  await fault.make(forSeconds);
  const lasted = (performance.now() - start) / 1_000;
  const problems: string[] = [];
  const found: string[] = [];
  let isNamed = false;
  for (const one of [web, worker]) {
    const log = one.takeLog();
    const trouble = troubleIn(log);
    const perSecond = Math.round(bytesOf(trouble) / lasted);
    found.push(`${one.name} ${perSecond} B/s of ${Math.round(Buffer.byteLength(log) / lasted)}`);
    if (perSecond > mostBytes)
      problems.push(`${one.name}: ${perSecond} B/s, ${trouble.slice(0, 3).join('\n')}`);
    isNamed ||= trouble.some((line) => fault.cause.test(line));
  }
  if (!isNamed) problems.push(`no line names the cause ${fault.cause}`);
  return { name: `log: ${fault.name}`, problems, found: found.join(', ') };
}

/** Ends every connection of the processes to the database, again and again. */
async function breakConnections({ server }: WatchedStage, forSeconds: number): Promise<void> {
  const end = performance.now() + forSeconds * 1_000;
  while (performance.now() < end) {
    await server.app.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'ostiary %'",
    );
    await seconds(0.2);
  }
}

/** Measures the logs of a web process and a worker during outages. @param forSeconds - duration of each outage */
export async function proveLogs(forSeconds: number): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  let disk: Disk | string = 'not tried';
  let network: Awaited<ReturnType<typeof startNetwork>> | undefined;
  const stage = await setWatchedStage(ends, { OSTIARY_LOG_LEVEL: 'info' }, async (server) => {
    disk = await smallDisk(server, ends, 256);
    const cable = await startNetwork(server.port);
    ends.defer(() => cable.close());
    network = cable;
    return server.url('app', cable.port);
  });
  const faults: Fault[] = [
    {
      name: 'database stopped',
      cause: /database/,
      make: async (count) => await stage.server.restart('fast', count * 1_000),
    },
    {
      name: 'network to the database cut',
      cause: /database/,
      async make(count) {
        network?.cut();
        await seconds(count);
        network?.mend();
      },
    },
    {
      name: 'connections of the pool broken',
      cause: /./,
      make: (count) => breakConnections(stage, count),
    },
    {
      name: 'endpoint down',
      cause: /dropped after its last attempt/,
      async make(count) {
        await stage.receiver.close();
        await seconds(count);
      },
    },
  ];
  const fullDisk = disk as Disk | string;
  if (typeof fullDisk === 'string') console.log(`skipped: the disk is not filled (${fullDisk})`);
  else {
    faults.splice(2, 0, {
      name: 'disk of the database full',
      cause: /space|database/,
      async make(count) {
        await fullDisk.fill();
        await seconds(count);
        fullDisk.clear();
      },
    });
  }
  stage.load.begin('logs');
  await stage.load.start(rates);
  await seconds(3);
  const claims: Claim[] = [];
  for (const fault of faults) {
    claims.push(await proveFault(stage, fault, forSeconds));
    // Let pools and workers recover before the next fault.
    await seconds(8);
  }
  return claims;
}
