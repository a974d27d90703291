import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { terminal } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'completion-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { run } = await terminal();

/** Writes the completion script of a shell to a file. */
async function scriptOf(shell: string): Promise<string> {
  const { code, out } = await run(`completion ${shell}`);
  expect(code).toBe(0);
  const file = join(folder, `completion.${shell}`);
  writeFileSync(file, out);
  return file;
}

const has = (shell: string): boolean => {
  try {
    execFileSync(shell, ['-c', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/**
 * Functions that return the words a shell offers after a line, by calling what the shell calls when a user
 * presses Tab.
 */
const asks: Readonly<Record<string, (file: string, line: string) => string>> = {
  bash: (file, line) =>
    `source ${file}; COMP_LINE='${line}'; COMP_POINT=${line.length}; _ostiary; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (file, line) =>
    `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print files; }; source ${file}; words=(${line}${line.endsWith(' ') ? " ''" : ''}); CURRENT=$#words; _ostiary`,
  fish: (file, line) => `source ${file}; complete -C '${line}' | string split -f1 \\t; true`,
};

describe.each(Object.keys(asks))('completion for %s', (shell) => {
  it.skipIf(!has(shell))('offers nouns, verbs, flags and the values of flags', async () => {
    const file = await scriptOf(shell);
    const offered = (line: string): string[] => {
      const command = asks[shell]?.(file, line) ?? '';
      const options = { encoding: 'utf8', cwd: folder, env: { ...process.env, HOME: folder } } as const;
      const all = execFileSync(shell, ['-c', command], options).split('\n').filter(Boolean).toSorted();
      // zsh itself filters the words that it is offered.
      return shell === 'zsh' ? all.filter((word) => word.startsWith(line.split(' ').at(-1) ?? '')) : all;
    };
    expect(offered('ostiary par')).toEqual(['partners']);
    expect(offered('ostiary comp')).toEqual(['completion']);
    expect(offered('ostiary partners ')).toEqual(['create', 'disable', 'enable', 'list', 'rename', 'show']);
    expect(offered('ostiary partners create kafe --n')).toEqual(['--name']);
    expect(offered('ostiary keys issue kafe --mode ')).toEqual(['live', 'test']);
    expect(offered('ostiary keys issue kafe --mode live --req')).toEqual(['--require-signature']);
    expect(offered('ostiary deliveries list kafe --status d')).toEqual(['delivered', 'dropped']);
    expect(offered('ostiary completion ')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']));
    expect(offered('ostiary tail kafe --once --j')).toEqual(['--json']);
    // Shells offer files for a flag that takes any value. bash does so by itself if it gets no words.
    const files = { bash: [], zsh: ['files'], fish: expect.arrayContaining(['completion.fish']) };
    expect(offered('ostiary import --file ')).toEqual(files[shell as keyof typeof files]);
    // bash starts a new word after a colon.
    const scope = shell === 'bash' ? 'verify' : 'identity:verify';
    expect(offered('ostiary keys issue kafe --scope identity:v')).toEqual([scope]);
  });

  it('is available as JSON, and is made for the name of the program', async () => {
    const { json } = await run(`completion ${shell} --json`, { program: 'acme-admin' });
    expect(json()).toEqual({ shell, script: expect.stringMatching(/\bacme-admin\b/) });
    expect(json().script).toMatch(/_acme_admin/);
    expect(json().script).not.toContain('ostiary');
    // A command of the host replaces the built-in one.
    const own = { about: 'own', run: async () => ({ text: 'mine', json: {} }) };
    expect((await run('completion', { commands: { completion: own } })).out).toBe('mine\n');
  });
});
