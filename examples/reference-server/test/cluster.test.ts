import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { type PostgresServer, startPostgres } from './support/postgres.ts';
import { run } from './support/processes.ts';
import { environment } from './support/server.ts';
import { halfSent } from './support/sockets.ts';

let postgres: PostgresServer;
let databases = 0;

beforeAll(async () => {
  postgres = await startPostgres();
}, 120_000);
afterAll(() => postgres?.remove(), 60_000);

/** Starts a primary with two web processes and a worker. */
async function started() {
  databases += 1;
  const metricsPort = await freePort();
  const env = await environment({
    DATABASE_URL: await postgres.createDatabase(`cluster_${databases}`),
    OSTIARY_PROCESSES: '2',
    OSTIARY_METRICS_PORT: String(metricsPort),
    // Short, because clients are not sent elsewhere when a process is replaced.
    OSTIARY_DRAIN_SECONDS: '1',
  });
  const program = run('main.ts', [], env);
  const lines = (
    message: string,
  ): { readonly name: string; readonly pid: number; readonly process: string }[] =>
    program
      .output()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}"`))
      .map((line) => JSON.parse(line));
  const listening = (count: number) => expect.poll(() => lines('listening').length).toBe(count);
  await listening(3);
  const port = Number(env.PORT);
  const pids = () => new Map(lines('process started').map(({ name, pid }) => [name, pid]));
  return { program, port, metricsPort, lines, listening, pids };
}

/** Requests a path and returns the status. Uses a new connection unless an agent is given. */
function ask(port: number, agent: Agent | false = false, path = '/readyz'): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ port, path, agent, host: '127.0.0.1' }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    }).once('error', reject);
  });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('several processes', () => {
  test('share requests and a page of metrics, are restarted when they are killed, finish running requests and end together', async () => {
    const { program, port, metricsPort, lines, listening, pids } = await started();
    for (let at = 0; at < 20; at += 1) expect(await ask(port, false, '/v1/oauth/userinfo')).toBe(401);
    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const counted = page.matchAll(
      /^http_server_request_duration_seconds_count\{process="([^"]+)",http_route="\/v1\/oauth\/userinfo".*\} (\d+)$/gm,
    );
    const counts = new Map(Array.from(counted, ([, name, count]) => [name, Number(count)]));
    expect([...counts.keys()].toSorted()).toEqual(['web-1', 'web-2']);
    expect([...counts.values()].reduce((sum, count) => sum + count)).toBe(20);
    expect(page.match(/^# TYPE ostiary_build_info /gm)).toHaveLength(1);
    expect(page.match(/^ostiary_build_info\{process="worker",.*role="worker"/gm)).toHaveLength(1);
    // Each log line names its process.
    expect(new Set(lines('request').map((line) => line.process))).toEqual(new Set(['web-1', 'web-2']));

    const before = pids().get('web-1') ?? 0;
    process.kill(before, 'SIGKILL');
    await program.until('a process ended; restarting it');
    expect(await ask(port)).toBe(200);
    await listening(4);
    expect(pids().get('web-1')).not.toBe(before);
    expect(await Promise.all(Array.from({ length: 6 }, () => ask(port)))).toEqual(Array(6).fill(200));

    // A terminal signals all processes. A supervisor signals the primary, whose own signal is then the second
    // one for some processes and the first one for others.
    const underWay = [await halfSent(port), await halfSent(port)];
    for (const name of ['web-1', 'worker']) process.kill(pids().get(name) ?? 0, 'SIGINT');
    program.child.kill('SIGTERM');
    await expect.poll(() => ask(port).catch(() => 503)).toBe(503);
    for (const socket of underWay) socket.write('handle=a');
    for (const answer of await Promise.all(underWay.map((socket) => text(socket))))
      expect(answer).toMatch(/HTTP\/1\.1 403 [\s\S]*<\/html>/);
    expect(await program.ended).toBe(0);
    expect(
      lines('closed')
        .map((line) => line.process)
        .toSorted(),
    ).toEqual(['primary', 'web-1', 'web-2', 'worker']);
    expect([...pids().values()].filter(isAlive)).toEqual([]);
  });

  test('are replaced one by one on SIGHUP, no request fails, and none outlives the primary', async () => {
    const { program, port, listening, pids } = await started();
    const before = pids();
    const agent = new Agent({ keepAlive: true });
    const statuses = new Map<string, number>();
    let isOver = false;
    const client = async (own: Agent | false): Promise<void> => {
      while (!isOver) {
        const status = await ask(port, own).catch(String);
        // Pause between requests, because they would take CPU time from the processes that start.
        await pause(25);
        statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
      }
    };
    const clients = [agent, agent, agent, false as const, false as const].map(client);
    const underWay = [await halfSent(port), await halfSent(port)];
    program.child.kill('SIGHUP');
    await listening(4);
    for (const socket of underWay) socket.write('handle=a');
    const answers = await Promise.all(underWay.map((socket) => text(socket)));
    for (const answer of answers) expect(answer).toMatch(/HTTP\/1\.1 403 [\s\S]*<\/html>/);
    await program.until('every process is replaced');
    isOver = true;
    await Promise.all(clients);
    agent.destroy();
    expect([...statuses.keys()]).toEqual(['200']);
    expect(statuses.get('200')).toBeGreaterThan(50);
    expect([...before.values()].filter(isAlive)).toEqual([]);
    expect([...pids().values()].filter(isAlive)).toHaveLength(3);
    program.child.kill('SIGKILL');
    await expect.poll(() => [...pids().values()].filter(isAlive)).toEqual([]);
  });
});
