import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const script = resolve(import.meta.dirname, '../../../deploy/systemd/ostiary');

/**
 * Runs the command of the systemd unit with settings, and with paths in a folder of the test. `runuser`,
 * which only root may run, is replaced by a program that runs the command as the same user.
 * @returns the input of the program, and true if a setting created the file `ran`
 */
function runWith(settings: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const ran = join(folder, 'ran');
  mkdirSync(join(folder, 'src/cli'), { recursive: true });
  writeFileSync(join(folder, 'env'), settings.replaceAll('@ran@', `touch ${ran}`));
  writeFileSync(
    join(folder, 'src/cli/main.ts'),
    'process.stdout.write(JSON.stringify({ env: process.env, args: process.argv.slice(2) }));\nif (process.argv.includes("fail")) process.exitCode = 7;',
  );
  writeFileSync(
    join(folder, 'runuser'),
    '#!/bin/sh\n[ "$1 $2 $3" = "--user ostiary --" ] || exit 9\nshift 3\nexec "$@"\n',
  );
  writeFileSync(
    join(folder, 'ostiary'),
    readFileSync(script, 'utf8')
      .replaceAll('/etc/ostiary/env', join(folder, 'env'))
      .replaceAll('/opt/ostiary', folder)
      .replaceAll('/usr/bin/node', process.execPath),
  );
  for (const program of ['runuser', 'ostiary']) chmodSync(join(folder, program), 0o755);
  const output = execFileSync(join(folder, 'ostiary'), args, {
    env: { PATH: [folder, process.env.PATH].join(delimiter), ...env },
    encoding: 'utf8',
  });
  const got: { env: Record<string, string>; args: string[] } = JSON.parse(output);
  return { ...got, hasRun: existsSync(ran) };
}

it('administrators’ commands read the settings as systemd does, and run nothing in them', () => {
  const { env, hasRun } = runWith(
    [
      '# a comment; @ran@',
      '; another $(@ran@)',
      'OSTIARY_NAME=Kafe @ran@',
      'SPACES =  one  two  ',
      'COMMAND=$(@ran@) `@ran@` $HOME & @ran@; @ran@',
      'SINGLE=\'$(@ran@) # \\ "x"\'',
      'DOUBLE="a \\"b\\" \\$(@ran@) \\`c\\` \\\\ \\n # d"',
      'JOINED="one"\'two\' three',
      "MIDDLE=it\"s 'quoted' # no comment",
      'CONTINUED=one \\',
      '  two',
      'QUOTED_LINES="one',
      'two"',
      'ESCAPED=a\\ b\\\\c\\#',
      'URL=postgres://a:b@db/x?sslmode=verify-full&options=-c%20x',
      'EMPTY=',
      'no assignment @ran@',
      '1BAD=x',
      'export EXPORTED=1',
      '  INDENTED=yes\r',
      'TWICE=1',
      'TWICE=2',
      'LAST=end',
    ].join('\n'),
    ['clients', 'list'],
  );
  expect(hasRun).toBe(false);
  const touched = env.OSTIARY_NAME?.slice('Kafe '.length) ?? '';
  expect(touched).toMatch(/^touch \//);
  expect(env).toMatchObject({
    SPACES: 'one  two',
    COMMAND: `$(${touched}) \`${touched}\` $HOME & ${touched}; ${touched}`,
    SINGLE: `$(${touched}) # \\ "x"`,
    DOUBLE: `a "b" $(${touched}) \`c\` \\ \\n # d`,
    JOINED: 'onetwothree',
    MIDDLE: "it\"s 'quoted' # no comment",
    CONTINUED: 'one   two',
    QUOTED_LINES: 'one\ntwo',
    ESCAPED: 'a b\\c#',
    URL: 'postgres://a:b@db/x?sslmode=verify-full&options=-c%20x',
    EMPTY: '',
    INDENTED: 'yes',
    TWICE: '2',
    LAST: 'end',
    NODE_ENV: 'production',
    OSTIARY_DATA_DIR: '/var/lib/ostiary',
  });
  expect(Object.keys(env)).not.toContain('1BAD');
  expect(Object.keys(env)).not.toContain('EXPORTED');
});

it('the audit log names the person who runs a command of administrators', () => {
  expect(runWith('', ['clients', 'list', 'a b'], { SUDO_USER: 'ana' }).args).toEqual([
    'clients',
    'list',
    'a b',
    '--actor',
    'ana',
  ]);
  expect(runWith('', ['clients', 'list']).args.slice(-2)).toEqual(['--actor', 'root']);
  expect(runWith('', ['x', '--actor=bo'], { SUDO_USER: 'ana' }).args).toEqual(['x', '--actor=bo']);
});

it('the exit code of a command of administrators is that of the program', () => {
  expect(() => runWith('', ['fail'])).toThrow(expect.objectContaining({ status: 7 }));
});
