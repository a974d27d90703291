import { copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { packInto } from '../../../packages/create-ostiary/test/support/packed.ts';
import { freePort } from '../../support/free-port.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import { type Podman, run } from './podman.ts';

/** Apps with every kind of Dockerfile that `create-ostiary` writes. */
const apps = [
  { name: 'node-sqlite', framework: 'node' },
  { name: 'next-sqlite', framework: 'next' },
] as const;

/**
 * Creates apps with the packed packages, builds their container images as their READMEs say, and runs the
 * images.
 */
export async function proveApps(machine: Podman, folder: string): Promise<Claim[]> {
  const { podman } = machine;
  // Folders as in the documented commands: apps beside a checkout whose packages are packed.
  const packed = join(folder, 'ostiary/packed');
  const beside = join(folder, 'apps');
  const built = join(folder, 'built');
  for (const made of [packed, beside, built]) await mkdir(made, { recursive: true });
  // The build context must contain the tarballs alone: the folder in which they are made links to all
  // installed packages.
  for (const tarball of (await packInto(built)).values())
    await copyFile(tarball, join(packed, basename(tarball)));
  const claims: Claim[] = [];
  for (const { name, framework } of apps) {
    const tarball = '../ostiary/packed/create-ostiary.tgz';
    await run('npx', ['--yes', tarball, name, '--framework', framework, '--storage', 'sqlite'], beside);
    const app = join(beside, name);
    const [, install = ''] = /^```sh\n(npm install .*)$/m.exec(await run('cat', ['README.md'], app)) ?? [];
    await run('sh', ['-c', install], app);
    await machine.build(name, join(app, 'Dockerfile'), app, '--build-context', `ostiary=${packed}`);

    const container = await machine.start(name, {
      PORT: String(await freePort()),
      AUTH_URL: 'https://id.example.com',
      SEALING_KEY: Buffer.alloc(32, 1).toString('base64url'),
    });
    const isHealthy = await until(() => machine.isHealthy(container));
    const log = await podman('logs', container);
    const code = await machine.stop(container);
    claims.push(
      { name: `${name}: builds, starts and is healthy`, problems: isHealthy ? [] : [log] },
      // After closing, Next.js exits with 143, the shell's code for SIGTERM. SIGKILL would be 137.
      claim(`${name}: ends by itself at SIGTERM`, code === 0 || code === 143, `exit code ${code}`),
    );
  }
  return claims;
}
