import { join } from 'node:path';
import { programOf } from '../program.ts';
import { certificates, makeDebian } from './debian.ts';
import { npmLinks, writeNode } from './node.ts';
import type { Podman } from './podman.ts';

/** Base image of the Dockerfiles in this repository. */
const image = 'docker.io/library/node:24-slim';

/** Package managers of `node:24-slim`. */
const managers = [
  { package: 'npm@11', folder: 'usr/local/lib/node_modules/npm', links: npmLinks },
  {
    package: 'corepack@0.36.0',
    folder: 'usr/local/lib/node_modules/corepack',
    links: { corepack: 'dist/corepack.js' },
  },
  { package: 'yarn@1.22.22', folder: 'opt/yarn', links: { yarn: 'bin/yarn.js', yarnpkg: 'bin/yarn.js' } },
];

/**
 * Makes an image like `node:24-slim` from Debian packages, the package managers, and the Node that runs this
 * program. The user `node` has the same ids as in `node:24-slim`.
 */
async function make(machine: Podman, folder: string): Promise<void> {
  const programs = join(folder, 'programs');
  await writeNode(programs, 'usr/local/bin', managers, folder);
  await makeDebian(
    machine,
    {
      ...{ image, release: 'bookworm', packages: ['libstdc++6'] },
      options: [
        // Like Debian's slim image, without manuals and translations.
        ...['doc/*', 'man/*', 'locale/*', 'info/*'].map(
          (path) => `--dpkgopt=path-exclude=/usr/share/${path}`,
        ),
        '--dpkgopt=path-include=/usr/share/doc/*/copyright',
      ],
      hooks: [
        `sync-in ${programs} /`,
        'chroot "$1" groupadd --gid 1000 node',
        'chroot "$1" useradd --uid 1000 --gid node --create-home node',
      ],
      changes: [`ENV NODE_EXTRA_CA_CERTS=${certificates}`],
    },
    folder,
  );
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
    if (programOf('mmdebstrap') === undefined) return null;
    await make(machine, folder);
    return "made of Debian's packages";
  }
}
