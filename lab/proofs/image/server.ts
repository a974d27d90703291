import { randomBytes } from 'node:crypto';
import { inspectConfinement } from '../../support/containers/confinement.ts';
import type { Podman } from '../../support/containers/podman.ts';
import { freePort } from '../../support/free-port.ts';
import { type Claim, claim, until } from '../../support/proof.ts';

/** Name of the server's image on this machine. */
export const image = 'ostiary';

/** Makes settings of a server that listens on a free port, with a database of its own in `/data`. */
export const newSettings = async () => ({
  PORT: String(await freePort()),
  OSTIARY_AUTH_URL: 'https://id.example.com',
  OSTIARY_BASE_URL: 'https://api.example.com',
  OSTIARY_SEALING_KEYS: randomBytes(32).toString('base64url'),
});

/** Requests a path of a server on this machine. @returns `null` if the server does not respond */
export const request = (port: string, path: string, init?: RequestInit): Promise<Response | null> =>
  fetch(`http://127.0.0.1:${port}${path}`, init).catch(() => null);

/** Waits until a server on this machine is ready. */
export const comesUp = (port: string): Promise<boolean> =>
  until(async () => (await request(port, '/readyz'))?.status === 200);

const confined = [
  ...['Uid:\t1000\t1000\t1000\t1000', 'CapEff:\t0000000000000000', 'NoNewPrivs:\t1'],
  ...['node --max-semi-space-size', 'writes to /tmp\nwrites to /data'],
];

/** Runs the image of the reference server with the restrictions of `deploy/compose.yaml`. */
export async function proveServer(machine: Podman): Promise<Claim[]> {
  return [...(await proveOnPort(machine)), ...(await proveOnSocket(machine)), await proveHosts(machine)];
}

async function proveOnPort(machine: Podman): Promise<Claim[]> {
  const settings = await newSettings();
  const container = await machine.start(image, settings);
  const inside = (...command: readonly string[]) => machine.podman('exec', container, ...command);
  if (!(await comesUp(settings.PORT)))
    return [claim('server: is ready', false, await machine.podman('logs', container))];

  const seen = await inside(...inspectConfinement);
  const data = await inside(
    'node',
    '-p',
    "const { mode, uid } = fs.statSync('/data'); mode.toString(8) + uid",
  );
  const metadata = await request(settings.PORT, '/.well-known/openid-configuration');
  const { issuer } = Object(await metadata?.json());
  const body = new URLSearchParams({ a: 'b' });
  const refused = await request(settings.PORT, '/v1/oauth/token', { method: 'POST', body });
  const { error } = Object(await refused?.json());

  const clients = ['node', 'src/cli/main.ts', 'clients'];
  const options = ['--name', 'Kafe', '--redirect-uri', 'https://a.example/', '--scope', 'openid', '--json'];
  const { clientId } = JSON.parse(await inside(...clients, 'create', ...options)).client;
  await machine.stop(container);
  await machine.podman('start', container);
  const isUp = await comesUp(settings.PORT);
  const kept = isUp ? await inside(...clients, 'list', '--json') : 'it does not start again';
  await machine.stop(container);
  return [
    claim(
      'server: process 1 is node, without rights, and writes to /data and /tmp only',
      confined.every((text) => seen.includes(text)) && !/writes to \/(?:server|etc)?$/m.test(seen),
      seen,
    ),
    claim('server: only its user can read /data', data === '407001000', data),
    claim(
      'server: answers requests',
      issuer === settings.OSTIARY_AUTH_URL && error === 'invalid_request',
      `${issuer}, ${refused?.status} ${error}`,
    ),
    claim('server: keeps its data in the volume', kept.includes(clientId), kept),
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
  return [claim('server: its health check passes on a Unix socket', isHealthy)];
}

/** Checks that names in `/etc/hosts` win over DNS, as they do on every Debian. */
async function proveHosts({ podman, limits }: Podman): Promise<Claim> {
  const added = ['--add-host', 'db.internal:127.0.0.9', '--network', 'host'];
  const script = "dns.lookup('db.internal', (error, address) => console.log(error ?? address))";
  const found = await podman('run', '--rm', ...added, ...limits, image, 'node', '-e', script);
  return claim('server: finds names in /etc/hosts', found === '127.0.0.9', found);
}
