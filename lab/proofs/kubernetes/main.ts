/** Proof: the chart is rendered, checked, and started without a cluster. See ../README.md. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { provideBase } from '../../support/containers/base.ts';
import { type Podman, startPodman } from '../../support/containers/podman.ts';
import { podsOf } from '../../support/kubernetes/pods.ts';
import { testPostgres } from '../../support/postgres/postgres.ts';
import { programOf, run } from '../../support/program.ts';
import { type Claim, claim, endProof } from '../../support/proof.ts';
import { allValues, chart, exampleValues, manifests, render, runHelm } from './chart.ts';
import { renderManifests } from './manifests.ts';
import { proveDeployment, proveJob } from './start.ts';
import { kubernetesVersions, provideTools, type Tools } from './tools.ts';

const root = resolve(import.meta.dirname, '../../..');
/** Values with which the chart is rendered. */
const variants = {
  'as documented': exampleValues,
  'with everything': allValues,
  'on OpenShift': [...exampleValues, 'openshift=true'],
};
/** Users of the containers: that of the chart, and one that OpenShift chooses. */
const users = [
  { user: '10001:0', values: exampleValues },
  { user: '1000730000:0', values: variants['on OpenShift'] },
];

/**
 * Makes the guarantee that a check passes. A check that fails rejects, and its message becomes the problem.
 */
const passes = (name: string, check: Promise<string>): Promise<Claim> =>
  check.then(
    (output) => claim(name, true, output.split('\n').at(-1) ?? ''),
    (error) => claim(name, false, `${error.message}\n${error.stdout}`),
  );

/** Checks what helm and kubeconform say about the chart. */
async function proveChart({ helm, kubeconform, schemas }: Tools, folder: string): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const [kind, values] of Object.entries(variants)) {
    claims.push(await passes(`${kind}: helm lint`, runHelm(helm, ['lint', '--strict', chart], values)));
    const file = join(folder, 'rendered.yaml');
    await writeFile(file, await render(helm, values));
    for (const version of kubernetesVersions) {
      const check = run(kubeconform, [
        ...['-strict', '-summary', '-kubernetes-version', version],
        ...schemas.flatMap((location) => ['-schema-location', location]),
        file,
      ]);
      claims.push(await passes(`${kind}: kubeconform ${version}`, check));
    }
  }
  return claims;
}

/** Compares the plain manifests of the repository with the chart. */
async function proveManifests({ helm }: Tools): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const [name, text] of await renderManifests(helm)) {
    const written = await readFile(join(manifests, name), 'utf8').catch(() => '');
    claims.push(
      claim(
        `deploy/kubernetes/${name} is rendered from the chart`,
        written === text,
        'run npm run manifests',
      ),
    );
  }
  return claims;
}

/** Builds the image and starts the containers of the rendered manifests, on a PostgreSQL of this machine. */
async function provePods({ helm }: Tools, machine: Podman, folder: string): Promise<Claim[]> {
  const image = 'ostiary';
  await machine.build(image, join(root, 'deploy/Dockerfile'), root);
  const postgres = await testPostgres();
  const claims: Claim[] = [];
  for (const { user, values } of users) {
    const pods = podsOf(await render(helm, values));
    const secret = {
      'database-url': await postgres.newDatabase(),
      'sealing-keys': randomBytes(32).toString('base64url'),
    };
    for (const pod of pods.toSorted(({ isJob }, other) => Number(other.isJob) - Number(isJob))) {
      const start = {
        machine,
        pod,
        image,
        secret,
        user,
        folder: join(folder, `${user.replace(':', '-')}-${pod.name}`),
      };
      claims.push(...(pod.isJob ? await proveJob(start) : await proveDeployment(start)));
    }
  }
  await postgres.remove();
  return claims;
}

await using ends = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'ostiary-kubernetes-'));
ends.defer(() => rm(folder, { recursive: true, force: true }));
const tools = await provideTools();
const claims: Claim[] = [];
if (tools === null) {
  console.log('skipped: Go and Python are needed to get helm, kubeconform and the schemas of Kubernetes');
} else {
  claims.push(...(await proveChart(tools, folder)), ...(await proveManifests(tools)));
  const program = programOf('podman');
  const machine = program === undefined ? null : ends.use(await startPodman(program));
  if (machine === null || (await provideBase(machine, folder)) === null)
    console.log('skipped: the pods are not started, because there is no podman, or no base image for it');
  else claims.push(...(await provePods(tools, machine, folder)));
}
await ends.disposeAsync();
endProof(claims);
