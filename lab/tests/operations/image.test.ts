import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { settings } from '../../../examples/reference-server/src/settings.ts';
import { blocksOf } from '../../support/documentation.ts';

const root = resolve(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const server = JSON.parse(read('examples/reference-server/package.json'));

/** The Dockerfile of the server, and the template for the Dockerfile of an app. */
const dockerfile = read('deploy/Dockerfile');
const template = read('packages/create-ostiary/templates/shared/Dockerfile');

/** Returns the instructions of a Dockerfile's last stage, each as one line. */
function lastStageOf(text: string): string[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, ' ')
    .trim()
    .split('\n');
  return lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
}

/** Returns the JSON list of an instruction, such as the arguments of `CMD`. */
function listOf(lines: readonly string[], instruction: RegExp): string[] {
  const [line = ''] = lines.filter((candidate) => instruction.test(candidate));
  return JSON.parse(line.replace(instruction, ''));
}

it('the image of the server starts from nothing, and runs programs that are there', () => {
  const stage = lastStageOf(dockerfile);
  expect(stage[0]).toBe('FROM scratch');
  expect(stage.filter((line) => line.startsWith('RUN '))).toEqual([]);
  const commands = [listOf(stage, /^CMD /), listOf(stage, /^HEALTHCHECK .* CMD /)];
  for (const command of commands) {
    expect(command[0]).toBe('node');
    expect(existsSync(join(root, 'examples/reference-server', command.at(-1) ?? ''))).toBe(true);
  }
  expect(stage).toContain('STOPSIGNAL SIGTERM');
  expect(stage).toContain('COPY --from=build --chown=root:root /server /server');
  expect(stage).toContain('VOLUME /data');
  expect(stage.join('\n')).toContain(' HOST=0.0.0.0 PORT=3000 OSTIARY_DATA_DIR=/data ');
});

it('the image says only what the server reads', () => {
  const lines = lastStageOf(dockerfile).filter((line) => line.startsWith('ENV '));
  const names = lines.flatMap((line) => Array.from(line.matchAll(/([A-Z_]+)=/g), ([, name = '']) => name));
  expect(names).toContain('OSTIARY_DATA_DIR');
  const others = ['PATH', 'NODE_COMPILE_CACHE'];
  expect(names.filter((name) => !Object.hasOwn(settings, name) && !others.includes(name))).toEqual([]);
});

it('the image has the labels of its version', () => {
  const stage = lastStageOf(dockerfile).join('\n');
  expect(stage).toContain(`ARG VERSION=${server.version}\n`);
  const source = manifest.repository.url.replace(/^git\+|\.git$/g, '');
  const labels = {
    title: 'Ostiary',
    version: '$VERSION',
    revision: '$REVISION',
    source,
    licenses: manifest.license,
  };
  for (const [name, value] of Object.entries(labels))
    expect(stage).toContain(`org.opencontainers.image.${name}="${value}"`);
});

it('both images are built with a certificate and a mirror of the registry, if they are given', () => {
  for (const text of [dockerfile, template]) {
    expect(text).toMatch(/^ARG NPM_REGISTRY=""$/m);
    expect(text).toMatch(/^ARG CA_CERTIFICATE=""$/m);
    expect(text).toContain('NODE_EXTRA_CA_CERTS=/ca.pem');
    expect(text).toMatch(/^HEALTHCHECK .*--timeout=3s/m);
    expect(text).toMatch(/^USER \d+$/m);
  }
});

it('the page about the image names every argument of the build', () => {
  const named = Array.from(dockerfile.matchAll(/^ARG ([A-Z_]+)/gm), ([, name = '']) => name);
  const [section = ''] = /^## Build it$[\s\S]*?(?=^## )/m.exec(read('docs/image.md')) ?? [];
  const described = Array.from(section.matchAll(/^\| `([A-Z_]+)` \|/gm), ([, name = '']) => name);
  expect(described.toSorted()).toEqual(named.toSorted());
});

it('commands of the page about the image run in the proof, except those for published images', () => {
  const proof = read('lab/proofs/image/page.ts');
  const run = Array.from(proof.matchAll(/runBlock\('([^']+)'\)/g), ([, text = '']) => text);
  const blocks = blocksOf('docs/image.md', 'sh').filter((block) => !block.includes('ghcr.io'));
  expect(blocks.length).toBeGreaterThan(3);
  expect(blocks.filter((block) => !run.some((text) => block.includes(text)))).toEqual([]);
});

it('scripts of the image can be executed', () => {
  for (const name of ['build', 'image-root'])
    expect(statSync(join(root, 'deploy', name)).mode & 0o111).not.toBe(0);
});

it('the bill of materials gets Node and the Debian packages of the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-bill-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write('bill.json', '{ "bomFormat": "CycloneDX", "components": [{ "purl": "pkg:npm/pg@8.23.0" }] }');
  write('etc/os-release', 'NAME="Debian"\nVERSION_ID="12"\nID=debian\n');
  const fields = ['Status: install ok installed', 'Architecture: arm64', 'Version: 2.36-9+deb12u14'];
  write(
    'var/lib/dpkg/status',
    `${['Package: libc6', ...fields].join('\n')}\n\n${['Package: libgcc-s1', ...fields].join('\n')}\n`,
  );
  const file = join(folder, 'bill.json');
  execFileSync(process.execPath, [join(root, 'scripts/bill-of-image.ts'), file, folder]);
  const { components }: { components: { purl: string }[] } = JSON.parse(readFileSync(file, 'utf8'));
  expect(components.map(({ purl }) => purl)).toEqual([
    'pkg:npm/pg@8.23.0',
    `pkg:generic/node@${process.versions.node}`,
    'pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=arm64&distro=debian-12',
    'pkg:deb/debian/libgcc-s1@2.36-9%2Bdeb12u14?arch=arm64&distro=debian-12',
  ]);
});
