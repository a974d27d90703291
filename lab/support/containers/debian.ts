import { join } from 'node:path';
import { run } from '../program.ts';
import type { Podman } from './podman.ts';

/** CA certificates of this machine, which may include the certificate of a package registry in its network. */
export const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Image that is made of Debian's packages. */
interface DebianImage {
  readonly image: string;
  readonly release: 'bookworm' | 'trixie';
  readonly packages: readonly string[];
  /** Further options of mmdebstrap. */
  readonly options?: readonly string[];
  /** Commands of mmdebstrap that change the finished file system. */
  readonly hooks?: readonly string[];
  /** Instructions of a Dockerfile: settings of the image. */
  readonly changes?: readonly string[];
}

/** Makes an image with mmdebstrap, in which programs trust the CA certificates of this machine. */
export async function makeDebian(
  { podman }: Podman,
  { image, release, packages, options = [], hooks = [], changes = [] }: DebianImage,
  folder: string,
): Promise<void> {
  const root = join(folder, 'root.tar');
  await run('mmdebstrap', [
    ...['--quiet', '--variant=minbase', ...options],
    `--include=ca-certificates,${packages.join(',')}`,
    ...[`copy-in ${certificates} /etc/ssl/certs`, ...hooks].map((hook) => `--customize-hook=${hook}`),
    ...[release, root],
  ]);
  await podman('import', '--quiet', ...changes.flatMap((change) => ['--change', change]), root, image);
}
