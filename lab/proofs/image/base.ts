import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { programOf } from '../../support/program.ts';
import { type Podman, run } from './podman.ts';

/** Base image of the Dockerfiles in this repository. */
const image = 'docker.io/library/node:24-slim';
/**
 * CA certificates of this machine, which may include the certificate of a package registry in its network.
 */
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Package managers of `node:24-slim`, each with its folder and with the links to its programs. */
const managers = [
  {
    package: 'npm@11',
    folder: 'usr/local/lib/node_modules/npm',
    links: { npm: 'bin/npm-cli.js', npx: 'bin/npx-cli.js' },
  },
  {
    package: 'corepack@0.36.0',
    folder: 'usr/local/lib/node_modules/corepack',
    links: { corepack: 'dist/corepack.js' },
  },
  { package: 'yarn@1.22.22', folder: 'opt/yarn', links: { yarn: 'bin/yarn.js', yarnpkg: 'bin/yarn.js' } },
];

/** Writes Node and the package managers as they are in `node:24-slim`. */
async function writePrograms(root: string, downloads: string): Promise<void> {
  const bin = join(root, 'usr/local/bin');
  await mkdir(bin, { recursive: true });
  await cp(process.execPath, join(bin, 'node'));
  for (const manager of managers) {
    const tarball = await run('npm', ['pack', '--silent', manager.package], downloads);
    const folder = join(root, manager.folder);
    await mkdir(folder, { recursive: true });
    await run('tar', ['-xzf', join(downloads, tarball), '-C', folder, '--strip-components=1']);
    for (const [name, file] of Object.entries(manager.links))
      await symlink(join('/', manager.folder, file), join(bin, name));
  }
}

/**
 * Makes an image like `node:24-slim` from Debian packages, the package managers, and the Node that runs this
 * program. The user `node` has the same ids as in `node:24-slim`.
 */
async function make({ podman }: Podman, mmdebstrap: string, folder: string): Promise<void> {
  const programs = join(folder, 'programs');
  await writePrograms(programs, folder);
  const hooks = [
    `sync-in ${programs} /`,
    `copy-in ${certificates} /etc/ssl/certs`,
    'chroot "$1" groupadd --gid 1000 node',
    'chroot "$1" useradd --uid 1000 --gid node --create-home node',
  ];
  const root = join(folder, 'base.tar');
  await run(mmdebstrap, [
    // Like Debian's slim image, without manuals and translations.
    ...['doc/*', 'man/*', 'locale/*', 'info/*'].map((path) => `--dpkgopt=path-exclude=/usr/share/${path}`),
    '--dpkgopt=path-include=/usr/share/doc/*/copyright',
    ...['--quiet', '--variant=minbase', '--include=ca-certificates,libstdc++6'],
    ...hooks.map((hook) => `--customize-hook=${hook}`),
    ...['bookworm', root],
  ]);
  await podman('import', '--quiet', '--change', `ENV NODE_EXTRA_CA_CERTS=${certificates}`, root, image);
}

/**
 * Pulls the base image, or makes a similar image if no image registry is reachable.
 *
 * @returns the origin of the image; `null` if this machine cannot provide the image
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
