import { join } from 'node:path';
import { makeDebian } from '../../support/containers/debian.ts';
import type { Podman } from '../../support/containers/podman.ts';

/** Release of Debian whose packages the images are made of. */
const release = 'trixie';

/** Image of the compose file for which this machine makes a similar one. */
interface StandIn {
  readonly image: string;
  readonly packages: readonly string[];
  /** Instructions of a Dockerfile: the settings of the original image that the compose file relies on. */
  readonly changes: readonly string[];
}

const postgresPrograms = '/usr/lib/postgresql/17/bin';

const standIns: readonly StandIn[] = [
  { image: `docker.io/library/debian:${release}-slim`, packages: ['apt'], changes: [] },
  {
    image: 'docker.io/library/postgres:18',
    packages: ['postgresql'],
    changes: [
      `ENV PATH=${postgresPrograms}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      'ENV PGDATA=/var/lib/postgresql/18/docker',
      'ENTRYPOINT ["docker-entrypoint.sh"]',
      'CMD ["postgres"]',
    ],
  },
  {
    image: 'docker.io/library/caddy:2',
    packages: ['caddy'],
    changes: [
      ...['ENV XDG_CONFIG_HOME=/config', 'ENV XDG_DATA_HOME=/data'],
      'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]',
    ],
  },
  {
    image: 'docker.io/prom/prometheus:v3.5.0',
    packages: ['prometheus'],
    changes: [
      'ENTRYPOINT ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]',
    ],
  },
];

/** Makes an image from Debian's packages, without the database that the package of PostgreSQL creates. */
async function make(machine: Podman, { image, packages, changes }: StandIn, folder: string) {
  const entryPoint = join(import.meta.dirname, 'docker-entrypoint.sh');
  await makeDebian(
    machine,
    {
      ...{ image, release, packages, changes },
      // Without --skip, mmdebstrap empties /run, in which PostgreSQL creates its socket.
      options: ['--skip=cleanup/run'],
      hooks: [
        `copy-in ${entryPoint} /usr/local/bin`,
        'rm -rf "$1"/var/lib/postgresql/*',
        'mkdir -p "$1/docker-entrypoint-initdb.d" "$1/etc/prometheus" "$1/run/postgresql"',
        'chmod 3777 "$1/run/postgresql"',
      ],
    },
    folder,
  );
}

/** Pulls the images of the compose file, or makes similar ones. @returns a line for each image */
export async function provideImages(machine: Podman, folder: string): Promise<string[]> {
  const lines: string[] = [];
  let hasRegistry = true;
  for (const standIn of standIns) {
    const { image } = standIn;
    hasRegistry &&= await machine.podman('pull', '--quiet', image).then(
      () => true,
      () => false,
    );
    if (!hasRegistry) await make(machine, standIn, folder);
    lines.push(`${image}: ${hasRegistry ? 'pulled' : "made of Debian's packages"}`);
  }
  return lines;
}
