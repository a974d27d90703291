/** Proof: the container images of this repository are built and run as in production. See ../README.md. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { programOf } from '../../support/program.ts';
import { type Claim, endProof } from '../../support/proof.ts';
import { proveApps } from './apps.ts';
import { provideBase } from './base.ts';
import { startPodman } from './podman.ts';
import { proveServer } from './server.ts';

const root = resolve(import.meta.dirname, '../../..');
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
  claims.push(...(await proveServer(machine, root)));
  claims.push(...(await proveApps(machine, folder)));
}
await ends.disposeAsync();
endProof(claims);
