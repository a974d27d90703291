import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { type Claim, until } from '../../support/proof.ts';
import type { Podman } from './podman.ts';

const image = 'ostiary';
/** Maximum size of the folder `/server` in the container image, in MiB. */
const largest = 70;

/**
 * Script that finds unwanted files in the image: a second Node, tests, build tools, the repository's source.
 */
const leftovers = `
  find /server "(" -name "node@*" -o -path "*/bin/node" ")"
  find /server -type d "(" -name test -o -name tests ")"
  ls -d /server/node_modules/typescript /server/node_modules/tsup 2> /dev/null
  find /source /data -mindepth 1 2> /dev/null
  true`;

/**
 * Script that inspects process 1 of a container: its user, its privileges, and the folders that it can write
 * to.
 */
const confinement = `
  grep -E '^(Uid|CapEff|NoNewPrivs):' /proc/1/status
  tr '\\0' ' ' < /proc/1/cmdline
  touch /home/node/mine 2>&1
  touch /data/mine && stat -c '%a %U' /data`;

const confined = [
  ...[
    'Uid:\t1000\t1000\t1000\t1000',
    'CapEff:\t0000000000000000',
    'NoNewPrivs:\t1',
    'node --max-semi-space-size',
  ],
  ...["'/home/node/mine': Read-only file system", '700 node'],
];

const claim = (name: string, holds: boolean, found = 'it does not hold'): Claim => ({
  name: `server: ${name}`,
  problems: holds ? [] : [found],
});

const newSettings = async () => ({
  PORT: String(await freePort()),
  OSTIARY_AUTH_URL: 'https://id.example.com',
  OSTIARY_BASE_URL: 'https://api.example.com',
  OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
});

/** Builds the container image of the reference server, and runs the image like `deploy/compose.yaml`. */
export async function proveServer(machine: Podman, root: string): Promise<Claim[]> {
  await machine.build(image, join(root, 'deploy/Dockerfile'), root);
  const [size = '', ...found] = (await machine.look(image, `du -sm /server; ${leftovers}`)).split('\n');
  return [
    claim('one Node, no tests, no tools', found.length === 0, found.join(', ')),
    claim(`at most ${largest} MiB below /server`, Number.parseInt(size, 10) <= largest, size),
    ...(await proveOnPort(machine)),
    ...(await proveOnSocket(machine)),
  ];
}

async function proveOnPort(machine: Podman): Promise<Claim[]> {
  const settings = await newSettings();
  const container = await machine.start(image, settings);
  const inside = (...command: readonly string[]) => machine.podman('exec', container, ...command);
  const request = (path: string, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${settings.PORT}${path}`, init).catch(() => null);
  const comesUp = () => until(async () => (await request('/readyz'))?.status === 200);
  if (!(await comesUp())) return [claim('is ready', false, await machine.podman('logs', container))];

  const seen = await inside('sh', '-c', confinement);
  const isHealthy = await machine.isHealthy(container);
  const metadata = await request('/.well-known/openid-configuration');
  const { issuer } = Object(await metadata?.json());
  const refused = await request('/v1/oauth/token', { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
  const { error } = Object(await refused?.json());

  const clients = ['node', 'src/cli/main.ts', 'clients'];
  const options = ['--name', 'Kafe', '--redirect-uri', 'https://a.example/', '--scope', 'openid', '--json'];
  const { clientId } = JSON.parse(await inside(...clients, 'create', ...options)).client;
  const code = await machine.stop(container);
  const log = await machine.podman('logs', container);
  await machine.podman('start', container);
  const kept = (await comesUp()) ? await inside(...clients, 'list', '--json') : 'it does not start again';
  await machine.stop(container);
  return [
    claim(
      'process 1 is node, without rights, and writes to /data only',
      confined.every((text) => seen.includes(text)),
      seen,
    ),
    claim('its health check passes', isHealthy),
    claim(
      'answers requests',
      issuer === settings.OSTIARY_AUTH_URL && error === 'invalid_request',
      `${issuer}, ${refused?.status} ${error}`,
    ),
    claim(
      'ends by itself at SIGTERM',
      code === 0 && log.includes('"msg":"closed"'),
      `exit code ${code}: ${log}`,
    ),
    claim('keeps its data in the volume', kept.includes(clientId), kept),
  ];
}

async function proveOnSocket(machine: Podman): Promise<Claim[]> {
  const container = await machine.start(image, {
    ...(await newSettings()),
    OSTIARY_SOCKET: '/data/ostiary.sock',
    OSTIARY_TRUSTED_PROXIES: 'unix',
  });
  const isHealthy = await until(() => machine.isHealthy(container));
  await machine.stop(container);
  return [
    claim('its health check passes on a Unix socket', isHealthy),
    claim('its health check fails where nothing answers', !(await machine.isHealthy(container))),
  ];
}
