import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Podman } from '../../support/containers/podman.ts';
import { run } from '../../support/program.ts';

/** Version of podman-compose from the Python registry. */
const podmanCompose = 'podman-compose==1.6.0';

/** Services of the compose file whose images this machine has or can make, in the order in which they start. */
const started = ['postgres-1', 'pgbouncer', 'web-1', 'web-2', 'worker', 'proxy', 'backup', 'prometheus'];

/**
 * Writes the settings of podman and installs podman-compose. @returns the environment in which the commands `docker`,
 * `podman` and `podman-compose` use the images of `machine`
 */
export async function composeEnvironment(
  { program, options }: Podman,
  folder: string,
): Promise<Record<string, string>> {
  const python = join(folder, 'python');
  await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', python, podmanCompose]);
  const files = await run('sh', ['-c', 'ulimit -Hn']);
  await mkdir(join(folder, 'networks'));
  await writeFile(
    join(folder, 'containers.conf'),
    `[containers]
default_ulimits = ["nofile=${files}:${files}", "nproc=4096:4096"]
[network]
network_backend = "netavark"
network_config_dir = "${join(folder, 'networks')}"
`,
  );
  await writeFile(join(folder, 'registries.conf'), 'unqualified-search-registries = ["docker.io"]\n');
  return {
    PATH: `${join(import.meta.dirname, 'bin')}:${process.env.PATH}`,
    PODMAN_PROGRAM: program,
    PODMAN_OPTIONS: options.join(' '),
    PODMAN_COMPOSE: python,
    COMPOSE_SERVICES: started.join(' '),
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
  };
}
