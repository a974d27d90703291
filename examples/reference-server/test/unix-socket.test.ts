import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { delimiter, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import type { ReferenceServer } from '../src/index.ts';
import { type PostgresServer, startPostgres } from './support/postgres.ts';
import { run } from './support/processes.ts';
import { environment, start, startServer, temporaryFolder } from './support/server.ts';

const nginx = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'nginx'))
  .find((file) => existsSync(file));
if (nginx === undefined)
  console.log('The test of a Unix socket behind nginx is left out: there is no nginx.');

const socketPath = async () => join(await temporaryFolder(), 'ostiary.sock');

async function keyFor({ installation: { admin } }: ReferenceServer, allowlist: readonly string[]) {
  await admin.partners.create({ slug: 'shop', name: 'Shop' });
  const { key } = await admin.apiKeys.issue({
    partner: 'shop',
    mode: 'live',
    scopes: ['webhooks'],
    allowlist: [...allowlist],
  });
  return key;
}

/** Requests `whoami` over a Unix socket, as a proxy does, and returns the client's address. */
function whoami(socket: string, key: string, forwarded: string) {
  return new Promise<{ readonly status: number; readonly address: unknown }>((resolve, reject) => {
    const headers = { host: 'localhost', 'x-api-key': key, 'x-forwarded-for': forwarded };
    request({ socketPath: socket, path: '/v1/partner/whoami', headers, agent: false }, async (response) => {
      const body = (await json(response)) as { readonly address?: unknown };
      resolve({ status: response.statusCode ?? 0, address: body.address });
    })
      .once('error', reject)
      .end();
  });
}

/** Starts nginx in front of the server's Unix socket, with the documented configuration. */
async function startNginx(program: string, socket: string): Promise<string> {
  const folder = await temporaryFolder();
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await writeFile(
    file,
    `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  upstream ostiary { server unix:${socket}; keepalive 8; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://ostiary;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`,
  );
  const child = spawn(program, ['-e', 'stderr', '-c', file, '-p', folder], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const origin = `http://127.0.0.1:${port}`;
  await expect
    .poll(() =>
      fetch(`${origin}/healthz`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  return origin;
}

describe('a server on a Unix socket', () => {
  test('trusts its proxy if unix is trusted, and lets the group connect', async () => {
    const socket = await socketPath();
    const { server, lines } = await startServer(
      {},
      { OSTIARY_SOCKET: socket, OSTIARY_TRUSTED_PROXIES: 'unix' },
    );
    const key = await keyFor(server, ['203.0.113.7']);
    expect(await whoami(socket, key, '203.0.113.7')).toEqual({ status: 200, address: '203.0.113.7' });
    expect(await whoami(socket, key, '203.0.113.7, 203.0.113.8')).toMatchObject({ status: 403 });
    expect((await stat(socket)).mode & 0o777).toBe(0o660);
    expect(lines.join('\n')).not.toContain('have no address');
    expect(lines.join('\n')).toContain(`"socket":"${socket}"`);
    await server.close();
    expect(existsSync(socket)).toBe(false);
  });

  test('warns at its start if unix is not trusted', async () => {
    const socket = await socketPath();
    const { lines } = await startServer(
      {},
      { OSTIARY_SOCKET: socket, OSTIARY_SOCKET_MODE: '600', OSTIARY_TRUSTED_PROXIES: '10.0.0.0/8' },
    );
    expect(lines.join('\n')).toContain('add unix to OSTIARY_TRUSTED_PROXIES');
    expect((await stat(socket)).mode & 0o777).toBe(0o600);
  });

  test('replaces the socket of a killed process, but not of a running one', async () => {
    const socket = await socketPath();
    const env = await environment({ OSTIARY_SOCKET: socket, OSTIARY_TRUSTED_PROXIES: 'unix' });
    const killed = run('main.ts', [], env);
    await killed.until('listening');
    killed.child.kill('SIGKILL');
    await killed.ended;
    expect(existsSync(socket)).toBe(true);
    const { server } = await startServer({}, { OSTIARY_SOCKET: socket, OSTIARY_TRUSTED_PROXIES: 'unix' });
    // A second server finds that the first one uses the socket.
    await expect(startServer({}, { OSTIARY_SOCKET: socket })).rejects.toThrow(
      `another program listens at ${socket}, or the file is no socket; set OSTIARY_SOCKET to another path, or stop the other program`,
    );
    const key = await keyFor(server, ['203.0.113.7']);
    expect(await whoami(socket, key, '203.0.113.7')).toMatchObject({ status: 200 });
  });

  test('does not replace a file that is not a socket', async () => {
    const file = await socketPath();
    await writeFile(file, 'mine');
    await expect(startServer({}, { OSTIARY_SOCKET: file })).rejects.toThrow('the file is no socket');
    expect((await stat(file)).size).toBe(4);
    const missing = join(file, '../none/ostiary.sock');
    await expect(startServer({}, { OSTIARY_SOCKET: missing })).rejects.toThrow('does not exist');
  });

  test.skipIf(nginx === undefined)('knows its callers behind nginx', async () => {
    const socket = await socketPath();
    const { server } = await startServer({}, { OSTIARY_SOCKET: socket, OSTIARY_TRUSTED_PROXIES: 'unix' });
    const key = await keyFor(server, ['127.0.0.1']);
    const origin = await startNginx(nginx ?? '', socket);
    for (const forwarded of ['203.0.113.9', '127.0.0.1']) {
      const headers = { 'X-API-Key': key, 'X-Forwarded-For': forwarded };
      const answer = await fetch(`${origin}/v1/partner/whoami`, { headers });
      expect([answer.status, await answer.json()]).toEqual([
        200,
        expect.objectContaining({ address: '127.0.0.1' }),
      ]);
    }
  });
});

describe('several processes on a Unix socket', () => {
  let postgres: PostgresServer;
  let databases = 0;

  beforeAll(async () => {
    postgres = await startPostgres();
  }, 120_000);
  afterAll(() => postgres?.remove(), 60_000);

  /** Starts two web processes and a worker that share one Unix socket. */
  async function startProcesses(trustedProxies: string) {
    databases += 1;
    const socket = await socketPath();
    const env = await environment({
      DATABASE_URL: await postgres.createDatabase(`socket_${databases}`),
      OSTIARY_DRAIN_SECONDS: '1',
    });
    const settings = {
      OSTIARY_PROCESSES: '2',
      OSTIARY_SOCKET: socket,
      OSTIARY_TRUSTED_PROXIES: trustedProxies,
    };
    const program = run('main.ts', [], { ...env, ...settings });
    const lines = (
      message: string,
    ): { readonly name: string; readonly pid: number; readonly process: string }[] =>
      program
        .output()
        .split('\n')
        .filter((line) => line.includes(`"msg":"${message}`))
        .map((line) => JSON.parse(line));
    const listening = (count: number) =>
      expect.poll(() => lines('listening').length, { timeout: 60_000 }).toBe(count);
    await listening(3);
    return { socket, env, program, lines, listening };
  }

  test('warn at the start if unix is not trusted, before any request', async () => {
    const { lines } = await startProcesses('10.0.0.0/8');
    const warned = lines('requests on a Unix socket have no address').map((line) => line.process);
    expect(warned.toSorted()).toEqual(['web-1', 'web-2']);
  }, 90_000);

  test.skipIf(nginx === undefined)(
    'know their callers behind nginx, also while they die and are replaced, and take the socket along',
    async () => {
      const { socket, env, program, lines, listening } = await startProcesses('unix');
      expect(lines('requests on a Unix socket')).toEqual([]);
      expect((await stat(socket)).mode & 0o777).toBe(0o660);
      const key = await keyFor(await start(env), ['127.0.0.1']);
      const origin = await startNginx(nginx ?? '', socket);
      const ask = async () => {
        const headers = { 'X-API-Key': key, 'X-Forwarded-For': '203.0.113.9' };
        const answer = await fetch(`${origin}/v1/partner/whoami`, { headers });
        return [answer.status, ((await answer.json()) as { readonly address?: unknown }).address];
      };
      const known = [200, '127.0.0.1'];
      const many = () => Promise.all(Array.from({ length: 12 }, ask));
      expect(await many()).toEqual(Array(12).fill(known));
      expect(new Set(lines('request"').map((line) => line.process))).toEqual(new Set(['web-1', 'web-2']));

      const first = lines('process started').find(({ name }) => name === 'web-1');
      process.kill(first?.pid ?? 0, 'SIGKILL');
      await program.until('a process ended; restarting it');
      await listening(4);
      expect(await many()).toEqual(Array(12).fill(known));

      program.child.kill('SIGHUP');
      const statuses = new Set<number>();
      let isReplaced = false;
      const replaced = program.until('every process is replaced').then(() => {
        isReplaced = true;
      });
      while (!isReplaced) {
        statuses.add((await fetch(`${origin}/readyz`)).status);
        // Pause between requests, because they would take CPU time from the processes that start.
        await pause(25);
      }
      await replaced;
      expect(statuses).toEqual(new Set([200]));
      expect(await many()).toEqual(Array(12).fill(known));
      expect((await stat(socket)).mode & 0o777).toBe(0o660);

      program.child.kill('SIGTERM');
      expect(await program.ended).toBe(0);
      expect(existsSync(socket)).toBe(false);
    },
    150_000,
  );
});
