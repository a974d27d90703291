import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Podman } from '../../support/containers/podman.ts';
import { freePort } from '../../support/free-port.ts';
import { packInto } from '../../support/packages/packed.ts';
import { run } from '../../support/program.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import { proveBill } from './bill.ts';
import { contentsOf, managersIn, megabytesOf, nodesIn } from './contents.ts';
import type { Mirror } from './mirror.ts';

/** Apps with every kind of Dockerfile that `create-ostiary` writes. */
const apps = [
  { name: 'node-sqlite', framework: 'node' },
  { name: 'next-sqlite', framework: 'next' },
] as const;

/**
 * Creates apps with the packed packages, builds their container images as their READMEs say, and runs the
 * images.
 */
export async function proveApps(machine: Podman, mirror: Mirror, folder: string): Promise<Claim[]> {
  const { podman } = machine;
  // Folders as in the documented commands: apps beside a checkout whose packages are packed.
  const packed = join(folder, 'ostiary/packed');
  const beside = join(folder, 'apps');
  const built = join(folder, 'built');
  for (const made of [packed, beside, built]) await mkdir(made, { recursive: true });
  // The build context must contain the tarballs alone, and none of what packing leaves beside them.
  for (const tarball of (await packInto(built)).values())
    await copyFile(tarball, join(packed, basename(tarball)));
  const claims: Claim[] = [];
  for (const { name, framework } of apps) {
    const tarball = '../ostiary/packed/create-ostiary.tgz';
    await run('npx', ['--yes', tarball, name, '--framework', framework, '--storage', 'sqlite'], beside);
    const app = join(beside, name);
    const [, install = ''] = /^```sh\n(npm install .*)$/m.exec(await run('cat', ['README.md'], app)) ?? [];
    await run('sh', ['-c', install], app);
    const downloads = mirror.downloads();
    await machine.build(
      name,
      join(app, 'Dockerfile'),
      app,
      ...['--build-context', `ostiary=${packed}`, '--build-arg', `NPM_REGISTRY=${mirror.url}`],
      ...['--build-arg', `CA_CERTIFICATE=${await readFile(mirror.authority, 'utf8')}`],
    );
    const fromMirror = mirror.downloads() - downloads;
    const root = join(folder, `${name}-image`);
    await machine.exportTo(name, root);
    const contents = await contentsOf(root);
    const [managers, nodes] = [managersIn(contents), nodesIn(contents)];
    console.log(
      `${name}: ${megabytesOf(contents).toFixed(1)} MB, app ${megabytesOf(contents, 'app/').toFixed(1)} MB`,
    );

    const container = await machine.start(name, {
      PORT: String(await freePort()),
      AUTH_URL: 'https://id.example.com',
      SEALING_KEY: Buffer.alloc(32, 1).toString('base64url'),
    });
    const isHealthy = await until(() => machine.isHealthy(container));
    const log = await podman('logs', container);
    const code = await machine.stop(container);
    claims.push(
      claim(`${name}: builds through the mirror`, fromMirror > 10, `${fromMirror} downloads`),
      claim(`${name}: has no package manager`, managers.length === 0, managers.join()),
      claim(`${name}: has one Node`, nodes.join() === 'usr/local/bin/node', nodes.join()),
      ...(await proveBill(name, contents, 'app')),
      { name: `${name}: builds, starts and is healthy`, problems: isHealthy ? [] : [log] },
      // After closing, Next.js exits with 143, the shell's code for SIGTERM. SIGKILL would be 137.
      claim(`${name}: ends by itself at SIGTERM`, code === 0 || code === 143, `exit code ${code}`),
    );
  }
  return claims;
}
