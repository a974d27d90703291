import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Podman } from '../../support/containers/podman.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import { comesUp, image, newSettings } from './server.ts';

/** Runs the health check of the server's image while its process works, is frozen, works again, and has ended. */
export async function proveHealth(machine: Podman): Promise<Claim[]> {
  const settings = await newSettings();
  const container = await machine.start(image, settings);
  const statusOf = () => machine.podman('inspect', '--format', '{{.State.Health.Status}}', container);
  await comesUp(settings.PORT);

  const statuses: string[] = [];
  await machine.isHealthy(container);
  statuses.push(await statusOf());
  await machine.podman('kill', '--signal', 'SIGSTOP', container);
  // Failures count only after the start period of the health check, and an unhealthy container had several in a row.
  await until(async () => !(await machine.isHealthy(container)) && (await statusOf()) === 'unhealthy');
  statuses.push(await statusOf());
  await machine.podman('kill', '--signal', 'SIGCONT', container);
  await machine.isHealthy(container);
  statuses.push(await statusOf());
  await machine.stop(container);
  const afterEnd = await machine.isHealthy(container);
  return [
    claim(
      'server: is unhealthy while its process is frozen, and healthy before and after',
      statuses.join() === 'healthy,unhealthy,healthy',
      statuses.join(),
    ),
    claim('server: its health check fails after the end', !afterEnd),
  ];
}

/** Checks which format of images keeps a health check. */
export async function proveFormats({ podman, build }: Podman, folder: string): Promise<Claim[]> {
  const context = join(folder, 'formats');
  await mkdir(context);
  const file = join(context, 'Dockerfile');
  await writeFile(file, `FROM ${image}\nHEALTHCHECK CMD ["node", "--version"]\n`);
  const healthOf = (name: string) =>
    podman('image', 'inspect', '--format', '{{if .HealthCheck}}{{json .HealthCheck.Test}}{{end}}', name);
  await build('format-docker', file, context);
  await build('format-oci', file, context, '--format', 'oci');
  const found = [await healthOf(image), await healthOf('format-docker'), await healthOf('format-oci')];
  return [
    claim(
      'server: the health check is in the image, which has the format of Docker and not of OCI',
      found.join(' ') === '["CMD","node","src/health-check.ts"] ["CMD","node","--version"] ',
      found.join(' '),
    ),
  ];
}
