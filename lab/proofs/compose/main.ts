/** Proof: the compose file is checked, and run as docs/compose.md says. See ../README.md. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyCheckout } from '../../support/checkout.ts';
import { provideBase } from '../../support/containers/base.ts';
import { type Podman, startPodman } from '../../support/containers/podman.ts';
import { programOf } from '../../support/program.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { provideImages } from './images.ts';
import { composeEnvironment } from './machine.ts';
import { proveSpecification } from './specification.ts';

/** Programs that give the containers of podman their networks and names. */
const networking = ['/usr/lib/podman/netavark', '/usr/lib/podman/aardvark-dns'];

/** Builds the images, and runs the commands of the page in a network of their own, without the internet. */
async function proveWalk(machine: Podman, folder: string): Promise<Claim[]> {
  const checkout = join(folder, 'ostiary');
  await copyCheckout(checkout);
  console.log((await provideImages(machine, folder)).join('\n'));
  console.log(`node:24-slim: ${await provideBase(machine, folder)}`);
  await machine.build('ostiary', join(checkout, 'deploy/Dockerfile'), checkout);
  await machine.build(
    'ostiary-pgbouncer',
    join(checkout, 'deploy/pgbouncer/Dockerfile'),
    join(checkout, 'deploy/pgbouncer'),
  );
  const output = join(folder, 'claims.json');
  const walk = [process.execPath, '--conditions=ostiary-source', join(import.meta.dirname, 'walk.ts')];
  const env = { ...process.env, ...(await composeEnvironment(machine, folder)) };
  await promisify(execFile)('unshare', ['--net', ...walk, checkout, output], { env });
  return JSON.parse(await readFile(output, 'utf8'));
}

await using ends = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'ostiary-compose-'));
ends.defer(() => rm(folder, { recursive: true, force: true }));
const claims = await proveSpecification();
const program = programOf('podman');
const missing = [
  ...networking.filter((file) => !existsSync(file)),
  ...['iptables', 'mmdebstrap', 'python3'].filter((name) => programOf(name) === undefined),
];
if (program === undefined || missing.length > 0 || process.getuid?.() !== 0) {
  console.log(
    'skipped: the services are not started, because that needs root, podman, netavark, aardvark-dns, iptables, mmdebstrap and Python',
  );
} else {
  claims.push(...(await proveWalk(ends.use(await startPodman(program, 'overlay')), folder)));
}
await ends.disposeAsync();
endProof(claims);
