import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '../../..');
const folder = join(root, '.github/workflows');
const { packageManager, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly strategy?: { readonly matrix: { readonly include?: unknown } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
const workflows = new Map([...texts].map(([name, text]): [string, Workflow] => [name, parse(text)]));
const jobs = [...workflows].flatMap(([name, { jobs: own }]) =>
  Object.entries(own).map(([id, job]) => ({ id: `${name} ${id}`, job })),
);
const steps = jobs.flatMap(({ id, job }) => job.steps.map((step) => ({ id, step })));
const release = workflows.get('release.yml')?.jobs ?? {};

/** Checks whether a workflow step runs code of this repository or its dependencies. */
const runsOurs = ({ uses = '', run = '' }: Step): boolean =>
  uses.startsWith('actions/checkout@') ||
  /\b(?:npm (?:run|test|ci|install|exec)|npx|pnpm|node|\.ci\/run|docker (?:build|run))\b/.test(run);

describe('workflows', () => {
  it('name actions by digest, and say which version that is', () => {
    const lines = [...texts.values()].flatMap((text) => text.match(/uses: .*/g) ?? []);
    expect(lines).toHaveLength(steps.filter(({ step }) => step.uses !== undefined).length);
    expect(lines.length).toBeGreaterThan(6);
    expect(
      lines.filter((line) => !/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line)),
    ).toEqual([]);
    // Each version of an action must have the same digest everywhere.
    const pinned = new Set(lines);
    expect(new Set([...pinned].map((line) => line.replace(/@\S+/, ''))).size).toBe(pinned.size);
  });

  it('run what `.ci/run` leaves out, which are files that there are', () => {
    const check = readFileSync(join(root, '.ci/run'), 'utf8');
    const leftOut = Array.from(check.matchAll(/--exclude (\S+)/g), ([, file = '']) => file);
    expect(leftOut.length).toBeGreaterThan(5);
    expect(leftOut.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const run = steps
      .map(({ step }) => step.run ?? '')
      .find((command) => command.startsWith('npm test -- lab/'));
    const names = run?.split(/\s+/).slice(3) ?? [];
    expect(leftOut.filter((file) => !names.some((name) => file.startsWith(name)))).toEqual([]);
  });

  it('have no rights but those that a job names, and jobs that run our code may read at most', () => {
    for (const [name, { permissions }] of workflows) expect(permissions, name).toEqual({});
    const withCode = jobs.filter(({ job }) => job.steps.some(runsOurs));
    expect(withCode.length).toBeGreaterThan(2);
    for (const { id, job } of withCode) {
      expect(job.permissions, id).toEqual({ contents: 'read' });
      expect(job.environment, id).toBeUndefined();
      expect(JSON.stringify(job), id).not.toMatch(/secrets\.|github\.token/);
    }
  });

  it('keep no credentials, and put nothing that somebody else wrote into a command', () => {
    const checkouts = steps.filter(({ step }) => step.uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(2);
    for (const { id, step } of checkouts)
      expect(step.with, id).toMatchObject({ 'persist-credentials': false });
    for (const { id, step } of steps) expect(step.run ?? '', id).not.toContain('${{');
  });

  it('run tools from the lockfile, or by their exact version', () => {
    const commands = steps.flatMap(({ step }) => step.run?.split('\n') ?? []);
    const fetched = commands.flatMap((line) => line.match(/\bnpx (?:--yes )?\S+/g) ?? []);
    expect(fetched.filter((line) => !line.endsWith(packageManager))).toEqual([]);
    expect(
      commands.filter((line) => /\b(?:npm (?:install|exec|i)|pnpm dlx|yarn|curl|wget)\b/.test(line)),
    ).toEqual([]);
    expect(devDependencies).toHaveProperty(['@cyclonedx/cyclonedx-npm']);
  });
});

describe('the release', () => {
  it('is built without rights, with nothing that another run left in a cache', () => {
    expect(release.build?.permissions).toEqual({ contents: 'read' });
    const setups = Object.values(release).flatMap((job) =>
      job.steps.filter(({ uses }) => uses?.startsWith('actions/setup-node@')),
    );
    expect(setups.length).toBeGreaterThan(1);
    for (const setup of setups) expect(setup.with).toMatchObject({ 'package-manager-cache': false });
  });

  it.each([
    ['publish', { 'id-token': 'write' }],
    ['record', { contents: 'write', 'id-token': 'write', attestations: 'write' }],
  ])('takes nothing but files that it compared with what was built, to %s', (name, permissions) => {
    const job = release[name];
    const own = job?.steps ?? [];
    expect(job?.permissions).toEqual(permissions);
    expect(own.filter(runsOurs)).toEqual([]);
    const compared = own.findIndex(({ run }) => run?.includes('sha256sum --check --strict SHA256SUMS'));
    expect(own[compared - 1]?.uses).toMatch(/^actions\/download-artifact@/);
    expect(own[compared]?.env).toEqual({ CHECKSUM: `\${{ needs.build.outputs.checksum }}` });
    expect(own[compared]?.run).toContain('echo "$CHECKSUM  SHA256SUMS" | sha256sum --check --strict');
    expect(own.slice(0, compared).filter(({ run }) => run !== undefined)).toEqual([]);
  });

  it('builds the image on both architectures without rights, and publishes what it compared', () => {
    const { image, 'publish-image': publish } = release;
    expect(image?.strategy?.matrix.include).toEqual([
      { arch: 'amd64', runner: 'ubuntu-24.04' },
      { arch: 'arm64', runner: 'ubuntu-24.04-arm' },
    ]);
    expect(image?.permissions).toEqual({ contents: 'read' });
    const rights = { packages: 'write', 'id-token': 'write', attestations: 'write' };
    expect(publish).toMatchObject({ needs: ['build', 'image'], environment: 'image', permissions: rights });
    const own = publish?.steps ?? [];
    expect(own.filter(runsOurs)).toEqual([]);
    expect(own[0]?.uses).toMatch(/^actions\/download-artifact@/);
    for (const arch of ['amd64', 'arm64']) {
      const name = arch.toUpperCase();
      expect(own[1]?.env).toHaveProperty(name, `\${{ needs.image.outputs.${arch} }}`);
      expect(own[1]?.run).toContain(`echo "$${name}  SHA256SUMS-${arch}" | sha256sum --check --strict`);
    }
    expect(own[1]?.run).toContain('sha256sum --check --strict SHA256SUMS-amd64 SHA256SUMS-arm64');
  });

  it('signs the provenance of the image, and the bill of materials of each architecture', () => {
    const signed = release['publish-image']?.steps.filter(({ uses }) => uses?.startsWith('actions/attest@'));
    expect(signed?.map(({ with: input }) => [input?.['subject-digest'], input?.['sbom-path']])).toEqual([
      [`\${{ steps.push.outputs.index }}`, undefined],
      [`\${{ steps.push.outputs.amd64 }}`, 'ostiary-amd64.cdx.json'],
      [`\${{ steps.push.outputs.arm64 }}`, 'ostiary-arm64.cdx.json'],
    ]);
    for (const { with: input } of signed ?? []) expect(input).toMatchObject({ 'push-to-registry': true });
  });

  it('is published once somebody has approved it, with provenance and without scripts', () => {
    expect(release.publish).toMatchObject({ environment: 'npm', needs: 'build' });
    expect(release.publish?.steps.at(-1)?.run?.match(/npm publish .*/g)).toEqual([
      'npm publish "./$tarball" --access public --provenance --ignore-scripts',
    ]);
  });
});
