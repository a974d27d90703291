import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspectConfinement } from '../../support/containers/confinement.ts';
import type { Podman } from '../../support/containers/podman.ts';
import { environmentOf, type Pod } from '../../support/kubernetes/pods.ts';
import { type Claim, claim, until } from '../../support/proof.ts';

/** Values of the Secret, by key. */
type Secret = Readonly<Record<string, string>>;

/** Parameters for starting the container of a pod. */
interface Start {
  readonly machine: Podman;
  readonly pod: Pod;
  readonly image: string;
  readonly secret: Secret;
  /** User and group that the container has to get, such as `1000:0`. */
  readonly user: string;
  /** Folder for the files of the Secret. */
  readonly folder: string;
}

/** Writes the secrets of a pod as the kubelet does: files of root, with the mode of the volume. */
async function writeSecrets({ pod, secret, folder }: Start): Promise<void> {
  const [{ projected }] = pod.volumes;
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  for (const { key, path } of projected.sources.flatMap((source) => source.secret.items)) {
    await writeFile(join(folder, path), secret[key] ?? '', { mode: projected.defaultMode });
    await chmod(join(folder, path), projected.defaultMode);
  }
}

/**
 * Starts the container of a pod with its environment, user, rights, command and secrets, on the network of
 * this machine. @returns the id of the container
 */
async function startPod(start: Start): Promise<string> {
  await writeSecrets(start);
  const { machine, pod, image, user, folder } = start;
  const [{ command = [], volumeMounts }] = pod.containers;
  const { runAsUser, runAsGroup } = pod.securityContext;
  const [entry, ...rest] = command;
  return await machine.podman(
    ...[
      'run',
      '--detach',
      '--network',
      'host',
      '--read-only',
      '--read-only-tmpfs=false',
      '--cap-drop',
      'all',
    ],
    ...['--security-opt', 'no-new-privileges', '--health-interval', 'disable', ...machine.limits],
    ...['--user', runAsUser === undefined ? user : `${runAsUser}:${runAsGroup}`],
    ...['--volume', `${folder}:${volumeMounts[0].mountPath}:ro`],
    ...Object.entries(environmentOf(pod)).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...(entry === undefined ? [] : ['--entrypoint', entry]),
    ...[image, ...rest],
  );
}

/** Runs the pod of a Job to its end. */
export async function proveJob(start: Start): Promise<Claim[]> {
  const { machine, pod, user } = start;
  const container = await startPod(start);
  const code = await machine.podman('wait', container);
  const log = await machine.podman('logs', container);
  return [claim(`${pod.name}, as ${user}: ends with success`, code === '0', `exit code ${code}: ${log}`)];
}

/** Starts the pod of a Deployment, waits until it is ready, and stops it as Kubernetes does. */
export async function proveDeployment(start: Start): Promise<Claim[]> {
  const { machine, pod, user } = start;
  const name = `${pod.name}, as ${user}`;
  const container = await startPod(start);
  const { PORT, OSTIARY_METRICS_PORT, OSTIARY_DRAIN_SECONDS = '0' } = environmentOf(pod);
  const statusOf = async (path: string, port = PORT) =>
    (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null))?.status ?? null;
  if (!(await until(async () => (await statusOf('/readyz')) === 200)))
    return [claim(`${name}: is ready`, false, await machine.podman('logs', container))];

  const seen = await machine.podman('exec', container, ...inspectConfinement);
  const [liveness, metrics] = [await statusOf('/healthz'), await statusOf('/metrics', OSTIARY_METRICS_PORT)];
  const startedAt = performance.now();
  const drain = Number(OSTIARY_DRAIN_SECONDS);
  const grace = pod.terminationGracePeriodSeconds ?? 30;
  const stopping = machine.podman('stop', '--time', String(grace), container);
  const seenDraining = drain === 0 || (await until(async () => (await statusOf('/readyz')) === 503));
  await stopping;
  const seconds = (performance.now() - startedAt) / 1_000;
  const code = await machine.podman('inspect', '--format', '{{.State.ExitCode}}', container);
  const uid = user.split(':')[0] ?? '';
  return [
    claim(`${name}: is alive and measured`, liveness === 200 && metrics === 200, `${liveness}, ${metrics}`),
    claim(
      `${name}: has no rights and writes nowhere`,
      seen.includes(`Uid:\t${uid}\t`) && /CapEff:\t0+$/m.test(seen) && !seen.includes('writes to'),
      seen,
    ),
    claim(`${name}: says that it is stopping while it drains`, seenDraining, `${drain} s`),
    claim(
      `${name}: ends by itself within its grace period`,
      code === '0' && seconds >= drain && seconds < grace,
      `exit code ${code} after ${seconds.toFixed(1)} of ${grace} s`,
    ),
  ];
}
