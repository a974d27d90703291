/** Proof: the installation with systemd and Caddy works as docs/deploy.md says. See ../README.md. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { startPodman } from '../../support/containers/podman.ts';
import { blockOf } from '../../support/documentation.ts';
import { programOf } from '../../support/program.ts';
import { type Claim, claim, endProof } from '../../support/proof.ts';
import { type Machine, startMachine, tag } from './machine.ts';

const installation = (part: string) => blockOf('docs/deploy.md', part);
const ready = '{"status":"ok"}';
/** Address of the machine for clients, from a range that is reserved for documentation. */
const address = '192.0.2.10';
const names = 'id.example.com api.example.com';
const mainPid = 'systemctl show --property=MainPID --value ostiary@all';
const authority = '/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt';
const trusted = '/etc/ssl/certs/ca-certificates.crt';

/** Steps 1 to 3: builds the server, and starts its service. */
async function install({ shell, shellOnline, write }: Machine): Promise<Claim[]> {
  await shellOnline(installation('deploy/build'));
  const key = (await shell(installation('useradd'))).split('\n').at(-1) ?? '';
  const settings = installation('OSTIARY_AUTH_URL').replace('the line that was printed', key);
  await write('/etc/ostiary/env', `${settings}NODE_EXTRA_CA_CERTS=${trusted}\n`);
  const started = await shell(installation('systemctl enable'));
  const state = await shell('systemctl show --property=ActiveState --value ostiary@all');
  const capabilities = await shell(`grep Cap /proc/$(${mainPid})/status`);
  return [
    claim('the service starts with the commands of the page', started.endsWith(ready), started),
    claim('the service is active', state === 'active', state),
    claim(
      'the server has no capabilities',
      !/:\s*0*[1-9a-f]/.test(capabilities),
      capabilities.split('\n')[0],
    ),
  ];
}

/** Steps 4 and 5: Caddy serves the host names over TLS, and the doctor finds no problem. */
async function proveUse({ shell, write }: Machine): Promise<Claim[]> {
  await shell(`ip address add ${address}/32 dev lo; echo "${address} ${names}" >> /etc/hosts`);
  // Caddy makes the certificates itself, because no certificate authority can reach the machine.
  const caddyfile = installation('reverse_proxy').replace(
    '\treverse_proxy',
    '\ttls internal\n\treverse_proxy',
  );
  await write('/etc/caddy/Caddyfile', caddyfile);
  await shell(installation('systemctl reload caddy'));
  await shell(`for try in $(seq 60); do [ -e ${authority} ] && break; sleep 0.5; done
cp ${authority} /usr/local/share/ca-certificates/caddy.crt; update-ca-certificates; systemctl restart ostiary@all`);
  const tls = await shell('curl --silent --retry 8 --retry-all-errors --fail https://id.example.com/readyz');
  // The password of the user is the standard input of the second command.
  const checks = installation('ostiary doctor').replace(
    '\nostiary users',
    '\necho "a long enough password" | ostiary users',
  );
  const output = await shell(checks);
  return [
    claim('Caddy serves the server over TLS', tls === ready, tls),
    claim('the doctor finds no problem', output.includes(' 0 problems'), output.split('\n').at(-2)),
    claim('a user is created', output.includes('Created anaika'), output.split('\n').at(-1)),
  ];
}

/** Restarts the service with SIGHUP, and updates the server twice as docs/upgrade.md says. */
async function proveUpdate({ shell, shellOnline }: Machine): Promise<Claim[]> {
  const before = await shell(mainPid);
  await shell(installation('systemctl kill'));
  const restarted = await shell(
    'sleep 1; curl --silent --retry 5 --retry-connrefused http://127.0.0.1:3000/readyz',
  );
  const after = await shell(mainPid);
  await shellOnline(blockOf('docs/upgrade.md', 'git fetch').replace('<tag>', tag));
  const replace = blockOf('docs/upgrade.md', 'systemctl restart');
  const first = await shell(replace);
  const second = await shell(`cp --recursive /opt/ostiary /opt/ostiary.new\n${replace}`);
  const folders = await shell('ls /opt; ls --directory /opt/*/ostiary 2> /dev/null || true');
  const users = await shell('ostiary users list');
  return [
    claim('SIGHUP replaces the process', restarted === ready && before !== after, `${before}, ${after}`),
    claim('the update works', first.endsWith(ready), first),
    claim('the next update works too', second.endsWith(ready), second),
    claim(
      'the older server lies beside the new one',
      folders === 'ostiary\nostiary.old',
      folders.replaceAll('\n', ' '),
    ),
    claim('the users are still there', users.includes('anaika'), users.split('\n').at(-1)),
  ];
}

await using ends = new AsyncDisposableStack();
const podman = programOf('podman');
if (podman === undefined || programOf('mmdebstrap') === undefined || process.getuid?.() !== 0) {
  console.log('skipped: the machine is not started, because that needs root, podman and mmdebstrap');
  process.exit();
}
const folder = await mkdtemp(join(tmpdir(), 'ostiary-systemd-'));
ends.defer(() => rm(folder, { recursive: true, force: true }));
const claims: Claim[] = [];
try {
  const machine = await startMachine(ends.use(await startPodman(podman, 'overlay')), folder);
  const versions = await machine.shell('systemctl --version | head -1; node --version; caddy version');
  console.log(versions);
  claims.push(...(await install(machine)), ...(await proveUse(machine)), ...(await proveUpdate(machine)));
} catch (error) {
  claims.push({ name: 'the commands of the page succeed', problems: [inspect(error)] });
}
await ends.disposeAsync();
endProof(claims);
