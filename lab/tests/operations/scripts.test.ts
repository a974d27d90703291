import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const { packageManager, scripts, devDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const launcher = readFileSync(join(root, 'scripts/run'), 'utf8');

it('every script installs first, and leaves no shell between npm and the command', () => {
  expect(Object.keys(scripts).length).toBeGreaterThan(20);
  expect(
    Object.entries<string>(scripts).filter(([, command]) => !/^exec scripts\/run [\w-]+/.test(command)),
  ).toEqual([]);
});

it('the launcher runs a command on the Node of this repository, and becomes it', () => {
  const script = 'console.log(process.version, process.pid)';
  const { stdout } = spawnSync('/bin/sh', ['-c', `echo $$; exec scripts/run node -e '${script}'`], {
    cwd: root,
    encoding: 'utf8',
  });
  // Only the last line is the output, because pnpm may print messages before it.
  const lines = stdout.trim().split('\n');
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/node/package.json'), 'utf8'));
  expect(lines.at(-1)).toBe(`v${version} ${lines[0]}`);
});

it('there is one version of pnpm', () => {
  const others = ['scripts/run', '.ci/run', 'deploy/build', 'CONTRIBUTING.md'].flatMap((file) =>
    (readFileSync(join(root, file), 'utf8').match(/pnpm@[\d.]+/g) ?? []).filter(
      (version) => version !== packageManager,
    ),
  );
  expect(others).toEqual([]);
  expect(`pnpm@${devDependencies.pnpm}`).toBe(packageManager);
  expect(launcher).toContain(`npx --yes ${packageManager} `);
});
