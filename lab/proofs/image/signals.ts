import type { Podman } from '../../support/containers/podman.ts';
import { testPostgres } from '../../support/postgres/postgres.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import { comesUp, image, newSettings, request } from './server.ts';

/** Ends a container of the server with each signal that ends it. */
export async function proveSignals(machine: Podman): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) claims.push(await proveSignal(machine, signal));
  return claims;
}

async function proveSignal(machine: Podman, signal: string): Promise<Claim> {
  const settings = { ...(await newSettings()), OSTIARY_DRAIN_SECONDS: '3' };
  const container = await machine.start(image, settings);
  const isUp = await comesUp(settings.PORT);
  const ending = machine.stop(container, signal);
  const drains = await until(async () => (await request(settings.PORT, '/readyz'))?.status === 503);
  const isAlive = (await request(settings.PORT, '/healthz'))?.status === 200;
  const code = await ending;
  const log = await machine.podman('logs', container);
  return claim(
    `server: ${signal} drains, ends, and exits with 0`,
    isUp && drains && isAlive && code === 0 && log.includes('"msg":"closed"'),
    `exit code ${code}, 503 ${drains}, alive ${isAlive}: ${log}`,
  );
}

/** Script for Node that lists the processes of a container, each with its state and its parent. */
const processes = `fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).flatMap((pid) => {
  try {
    const [, state, parent] = /\\) (\\w) (\\d+)/.exec(fs.readFileSync('/proc/' + pid + '/stat', 'utf8'));
    return [[pid, state, parent].join(':')];
  } catch { return []; }
}).join(' ')`;

/**
 * Runs several processes of the server in a container, replaces them, and runs commands beside them. Process 1 must
 * wait for the end of each process that it started.
 */
export async function proveProcesses(machine: Podman): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  const postgres = await testPostgres();
  ends.defer(() => postgres.remove());
  const settings = {
    ...(await newSettings()),
    DATABASE_URL: await postgres.newDatabase(),
    OSTIARY_PROCESSES: '2',
  };
  const container = await machine.start(image, settings);
  const logged = (text: string) =>
    until(async () => (await machine.podman('logs', container)).includes(text));
  const isUp = await comesUp(settings.PORT);
  await machine.podman('kill', '--signal', 'SIGHUP', container);
  const isReplaced = await logged('every process is replaced');
  for (let checks = 0; checks < 3; checks += 1) await machine.isHealthy(container);
  const found = await machine.podman('exec', container, 'node', '-p', processes);
  const children = found.split(' ').filter((entry) => entry.endsWith(':1'));
  const code = await machine.stop(container);
  return [
    claim(
      'server: SIGHUP replaces several processes, and leaves no zombie',
      isUp && isReplaced && children.length === 3 && !found.includes(':Z:'),
      `up ${isUp}, replaced ${isReplaced}: ${found}`,
    ),
    claim('server: several processes end at SIGTERM, and exit with 0', code === 0, `exit code ${code}`),
  ];
}
