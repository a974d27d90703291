/** Proof: the container images of this repository are built and run as in production. See ../README.md. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { provideBase } from '../../support/containers/base.ts';
import { type Podman, startPodman } from '../../support/containers/podman.ts';
import { freePort } from '../../support/free-port.ts';
import { programOf } from '../../support/program.ts';
import { type Claim, claim, endProof } from '../../support/proof.ts';
import { proveApps } from './apps.ts';
import { proveBill, proveLockfile, proveSystemBill } from './bill.ts';
import { contentsOf, megabytesOf } from './contents.ts';
import { proveFormats, proveHealth } from './health.ts';
import { type Mirror, startMirror } from './mirror.ts';
import { openPage, proveBuild, proveDigest, proveLook, proveMirror, startRegistry } from './page.ts';
import { image, proveServer } from './server.ts';
import { proveProcesses, proveSignals } from './signals.ts';

const repository = resolve(import.meta.dirname, '../../..');
/** Maximum size of all files in the server's image, in megabytes. */
const largest = 165;

/** Checks what is in the image of the server. */
async function proveContents(machine: Podman, folder: string): Promise<Claim[]> {
  const root = join(folder, 'server');
  await machine.exportTo(image, root);
  const contents = await contentsOf(root);
  const { programs, folders } = contents;
  const tests = folders.filter((path) => /^server\/(?:.*\/)?tests?$/.test(path));
  const total = megabytesOf(contents);
  const parts = ['usr/local/bin/node', 'server/node_modules/', 'server/'].map(
    (part) => `${part} ${megabytesOf(contents, part).toFixed(1)}`,
  );
  console.log(`${total.toFixed(1)} MB: ${parts.join(', ')}`);
  return [
    claim(
      'server: has one program, which is Node',
      programs.join() === 'usr/local/bin/node',
      programs.join(),
    ),
    claim('server: has no tests', tests.length === 0, tests.join()),
    claim(`server: at most ${largest} MB`, total <= largest, `${total.toFixed(1)} MB`),
    ...(await proveBill('server', contents, 'server')),
    ...(await proveSystemBill(contents, process.versions.node)),
    await proveLockfile(contents, await readFile(join(repository, 'pnpm-lock.yaml'), 'utf8')),
  ];
}

/** Runs the commands of the page about the image, which build the image of the server. */
async function provePage(
  machine: Podman,
  mirror: Mirror,
  folder: string,
  ends: AsyncDisposableStack,
): Promise<Claim[]> {
  const port = await freePort();
  const registry = await startRegistry(folder, port);
  ends.defer(() => void registry?.kill());
  const page = await openPage(
    machine,
    new Map([
      ['https://npm.example.com/', mirror.url],
      ['$PWD/company-ca.pem', mirror.authority],
      ['cat company-ca.pem', `cat ${mirror.authority}`],
      ['> sbom.cdx.json', `> ${join(folder, 'sbom.cdx.json')}`],
      ['registry.example.com', `127.0.0.1:${port}`],
    ]),
  );
  const claims = [
    ...(await proveBuild(machine, page)),
    ...(await proveMirror(page, mirror)),
    ...(await proveLook(page)),
  ];
  if (registry === null) console.log('skipped: pushing to a registry, because there is no docker-registry');
  else claims.push(...(await proveDigest(machine, page, `127.0.0.1:${port}`)));
  return claims;
}

const program = programOf('podman');
if (program === undefined) {
  console.log('skipped: there is no podman');
  process.exit(0);
}
await using ends = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'ostiary-image-'));
ends.defer(() => rm(folder, { recursive: true, force: true }));
const machine = ends.use(await startPodman(program));
const base = await provideBase(machine, folder);
const claims: Claim[] = [];
if (base === null) {
  console.log('skipped: node:24-slim cannot be pulled here, and there is no mmdebstrap to make one like it');
} else {
  console.log(`node:24-slim: ${base}`);
  const mirror = ends.use(await startMirror(folder));
  claims.push(
    ...(await provePage(machine, mirror, folder, ends)),
    ...(await proveContents(machine, folder)),
    ...(await proveServer(machine)),
    ...(await proveHealth(machine)),
    ...(await proveFormats(machine, folder)),
    ...(await proveSignals(machine)),
    ...(await proveProcesses(machine)),
    ...(await proveApps(machine, mirror, folder)),
  );
}
await ends.disposeAsync();
endProof(claims);
