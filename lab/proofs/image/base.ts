import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { programOf } from '../../support/program.ts';
import { type Podman, run } from './podman.ts';

/** Base image of the Dockerfiles in this repository. */
const image = 'docker.io/library/node:24-slim';
/**
 * CA certificates of this machine, which may include the certificate of a package registry in its network.
 */
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Makes an image like `node:24-slim` from Debian packages, npm, and the Node that runs this program. The user
 * `node` has the same ids as in `node:24-slim`.
 */
async function make({ podman }: Podman, mmdebstrap: string, folder: string): Promise<void> {
  const npm = join(folder, 'npm');
  const tarball = await run('npm', ['pack', '--silent', 'npm@11'], folder);
  await mkdir(npm);
  await run('tar', ['-xzf', join(folder, tarball), '-C', npm, '--strip-components=1']);
  await cp(process.execPath, join(folder, 'node'));
  const hooks = [
    'mkdir -p "$1/usr/local/lib/node_modules"',
    `copy-in ${join(folder, 'node')} /usr/local/bin`,
    `copy-in ${npm} /usr/local/lib/node_modules`,
    `copy-in ${certificates} /etc/ssl/certs`,
    ...['npm', 'npx'].map(
      (name) => `ln -s ../lib/node_modules/npm/bin/${name}-cli.js "$1/usr/local/bin/${name}"`,
    ),
    'chroot "$1" groupadd --gid 1000 node',
    'chroot "$1" useradd --uid 1000 --gid node --create-home node',
  ];
  const root = join(folder, 'base.tar');
  await run(mmdebstrap, [
    ...['--quiet', '--variant=minbase', '--include=ca-certificates,libstdc++6'],
    ...hooks.map((hook) => `--customize-hook=${hook}`),
    ...['bookworm', root],
  ]);
  await podman('import', '--quiet', '--change', `ENV NODE_EXTRA_CA_CERTS=${certificates}`, root, image);
}

/**
 * Pulls the base image, or makes a similar image if no image registry is reachable.
 *
 * @returns the origin of the image; `null` if it cannot be provided here
 */
export async function provideBase(machine: Podman, folder: string): Promise<string | null> {
  try {
    await machine.podman('pull', '--quiet', image);
    return 'pulled';
  } catch {
    const mmdebstrap = programOf('mmdebstrap');
    if (mmdebstrap === undefined) return null;
    await make(machine, mmdebstrap, folder);
    return "made of Debian's packages";
  }
}
