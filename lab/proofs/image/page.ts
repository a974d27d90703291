import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Podman } from '../../support/containers/podman.ts';
import { blockOf, root } from '../../support/documentation.ts';
import { programOf, run } from '../../support/program.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import type { Mirror } from './mirror.ts';
import { image, request } from './server.ts';

/** Runs blocks of commands of the documentation about the image. */
export interface Page {
  /** Runs the only block that contains a text. @returns the output of its commands */
  runBlock(part: string): Promise<string>;
}

/**
 * Parts of the page's commands that the reader replaces, such as a host name, with their replacements on this
 * machine.
 */
type Replacements = ReadonlyMap<string, string>;

/** Opens the page about the image, whose commands run with podman instead of Docker. */
export async function openPage(machine: Podman, replacements: Replacements): Promise<Page> {
  const env = { ...process.env, PATH: [await machine.writeDocker(), process.env.PATH].join(delimiter) };
  return {
    async runBlock(part) {
      const block = blockOf('docs/image.md', part);
      const commands = [...replacements].reduce((line, [from, to]) => line.replaceAll(from, to), block);
      return await run('sh', ['-e', '-c', commands], root, env);
    },
  };
}

/** Builds the image as the page says, and checks its labels. */
export async function proveBuild({ podman }: Podman, { runBlock }: Page): Promise<Claim[]> {
  await runBlock('--build-arg REVISION');
  const labels = JSON.parse(await podman('image', 'inspect', '--format', '{{json .Labels}}', image));
  const found = (name: string) => labels[`org.opencontainers.image.${name}`];
  const manifest = await readFile(join(root, 'examples/reference-server/package.json'), 'utf8');
  const { version, license } = JSON.parse(manifest);
  const { repository } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const wanted = {
    ...{ title: 'Ostiary', version, licenses: license },
    revision: await run('git', ['rev-parse', 'HEAD'], root),
    source: repository.url.replace(/^git\+|\.git$/g, ''),
  };
  const wrong = Object.entries(wanted).filter(([name, value]) => found(name) !== value);
  return [{ name: 'server: is labelled', problems: wrong.map(([name]) => `${name}: ${found(name)}`) }];
}

/** Builds the image behind a mirror of the npm registry with a certificate of its own. */
export async function proveMirror({ runBlock }: Page, mirror: Mirror): Promise<Claim[]> {
  await runBlock('--build-arg NPM_REGISTRY');
  const status = await runBlock('NODE_EXTRA_CA_CERTS');
  return [
    claim(
      'server: builds through a mirror whose certificate is of another authority',
      mirror.downloads() > 100,
      `${mirror.downloads()} downloads`,
    ),
    claim('server: trusts an authority that it is given while it runs', status === '200', status),
  ];
}

/** Looks into the image as the page says. */
export async function proveLook({ runBlock }: Page): Promise<Claim[]> {
  const lines = (await runBlock('> sbom.cdx.json')).split('\n');
  const wanted = [/"org\.opencontainers\.image\.title":"Ostiary"/, /src\/health-check\.ts/, /^v24\./];
  return [
    claim(
      'page: commands that look into the image work',
      lines.length === 3 && wanted.every((form, at) => form.test(lines[at] ?? '')),
      lines.join('\n'),
    ),
  ];
}

/** Starts a registry for images on the loopback address. @returns `null` if none is installed */
export async function startRegistry(folder: string, port: number): Promise<ChildProcess | null> {
  const program = programOf('docker-registry');
  if (program === undefined) return null;
  await mkdir(join(folder, 'registry'));
  const config = join(folder, 'registry.yml');
  const storage = { filesystem: { rootdirectory: join(folder, 'registry') } };
  await writeFile(
    config,
    JSON.stringify({ version: '0.1', storage, http: { addr: `127.0.0.1:${port}` }, log: { level: 'error' } }),
  );
  const child = spawn(program, ['serve', config], { stdio: 'ignore' });
  if (!(await until(async () => (await request(String(port), '/v2/'))?.status === 200)))
    throw new Error('the registry for images does not start');
  return child;
}

/** Pushes the image to a registry as the page says, and pulls the image by the digest that the page prints. */
export async function proveDigest(
  { podman }: Podman,
  { runBlock }: Page,
  registry: string,
): Promise<Claim[]> {
  const digest = (await runBlock('docker push')).split('\n').at(-1) ?? '';
  const pushed = `${registry}/ostiary@${digest}`;
  const idOf = (name: string) => podman('image', 'inspect', '--format', '{{.Id}}', name);
  const before = await idOf(image);
  await podman('pull', '--quiet', '--tls-verify=false', pushed);
  const after = await idOf(pushed);
  return [
    claim(
      'page: the image that is pulled by its digest is the one that was pushed',
      /^sha256:[0-9a-f]{64}$/.test(digest) && before === after,
      `${pushed}: ${before}, ${after}`,
    ),
  ];
}
