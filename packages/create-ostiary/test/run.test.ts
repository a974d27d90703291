import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { frameworks, languages, storages } from '../src/choices.ts';
import { writeFiles } from '../src/folder.ts';
import { typed } from './support/typed.ts';

const parent = mkdtempSync(join(tmpdir(), 'create-ostiary-run-'));
afterAll(() => rmSync(parent, { recursive: true, force: true }));
let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(parent, 'test-')), 'my-app');
});

const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
const dependencies = (): string[] => Object.keys(JSON.parse(read('package.json')).dependencies);

describe('npm create ostiary', () => {
  it('writes the defaults with --yes, and without a terminal', async () => {
    const { code, output, questions } = await typed([folder, '--yes'], []);
    expect([code, questions]).toEqual([0, []]);
    expect(output).toMatch(/^Wrote \d+ files[\s\S]*\n {2}npm install.*\n {2}npm test\n {2}npm start\n$/);
    expect(JSON.parse(read('package.json'))).toMatchObject({ name: 'my-app', type: 'module' });
    expect(dependencies()).toEqual(['@ostiary/adapter-sqlite', '@ostiary/core']);
    expect(read('src/ostiary.ts')).toContain("languages: ['en', 'fr'],");
    rmSync(folder, { recursive: true });
    expect((await typed([folder])).code).toBe(0);
  });

  it('asks for missing choices, and again after an invalid answer', async () => {
    const { code, questions } = await typed(
      [],
      [folder, 'koa', 'hono', 'postgres', 'ht,xx', 'ht, es', 'maybe', 'Yes'],
    );
    expect(code).toBe(0);
    expect(questions).toHaveLength(8);
    expect(questions[2]).toMatch(/^the framework "koa" is unknown; there are node, express/);
    expect(questions[5]).toMatch(/^the language "xx" is unknown/);
    expect(questions[7]).toMatch(/^the answer "maybe" is unknown; there are yes, no/);
    expect(dependencies()).toContain('hono');
    expect(dependencies()).toContain('@ostiary/adapter-postgres');
    expect(dependencies()).toContain('@modelcontextprotocol/sdk');
    expect(read('src/ostiary.ts')).toContain("languages: ['ht', 'es'],");
  });

  it('asks for another folder while one cannot be used', async () => {
    const { code, questions } = await typed(['--storage', 'sqlite'], ['/', 'My App', folder]);
    expect(code).toBe(0);
    expect(questions.slice(1, 3)).toEqual([
      expect.stringContaining('is no name that npm takes'),
      expect.stringContaining('"My App" is no name'),
    ]);
    // Empty answers to the questions about framework, languages and MCP server mean the defaults.
    expect(questions).toHaveLength(6);
    expect(dependencies()).not.toContain('@modelcontextprotocol/sdk');
  });

  it('shows its help and its version', async () => {
    const { code, output } = await typed(['--help']);
    expect(code).toBe(0);
    for (const word of [...frameworks, ...storages, ...languages, '--mcp', '--yes', '--version'])
      expect(output).toContain(word);
    expect(await typed(['--version'])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/),
    });
  });

  it('uses an existing folder, if it is empty', async () => {
    mkdirSync(folder);
    expect((await typed([folder, '--yes'])).code).toBe(0);
    expect(readdirSync(folder)).toContain('package.json');
  });

  it.each(
    frameworks.flatMap((framework) =>
      storages.flatMap((storage) => [true, false].map((mcp) => ({ framework, storage, mcp }))),
    ),
  )(
    'leaves nothing of other apps in one of $framework and $storage, with an MCP server: $mcp',
    async ({ framework, storage, mcp }) => {
      await typed([folder, '--framework', framework, '--storage', storage, ...(mcp ? ['--mcp'] : [])]);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      for (const { name, parentPath } of files) {
        const text = readFileSync(join(parentPath, name), 'utf8');
        expect(text, name).not.toMatch(/\{\{|<\/?(?:sqlite|postgres|next|not-|mcp)/);
        expect(text, name).not.toContain('\n\n\n');
        if (!mcp) expect(text, name).not.toMatch(/\bmcp|modelcontextprotocol/i);
      }
      const page = read('README.md');
      expect(page.includes('DATABASE_URL')).toBe(storage === 'postgres');
      // Every file that the README names exists.
      for (const [, path = ''] of page.matchAll(/^\| `([\w./-]+)`/gm))
        expect(existsSync(join(folder, path)), path).toBe(true);
      // Before the first release, the install command names every package of this repository that the app
      // needs.
      const { dependencies: run, devDependencies: write } = JSON.parse(read('package.json'));
      const own = Object.keys({ ...run, ...write }).filter((name) => name.startsWith('@ostiary/'));
      expect(own).toEqual(expect.arrayContaining([`@ostiary/adapter-${storage}`, '@ostiary/testing']));
      const [install = ''] = /^npm install .*/m.exec(page) ?? [];
      for (const name of own) expect(install).toContain(`/ostiary-${name.slice(9)}.tgz`);
      expect(read('.dockerignore').includes('.next')).toBe(framework === 'next');
    },
  );
});

describe('npm create ostiary refuses', () => {
  it.each([
    [['--colour', 'red'], /^create-ostiary: Unknown option '--colour'; see --help\n$/],
    [['--framework', 'koa'], /framework "koa" is unknown; there are node, express, fastify, hono, next\n$/],
    [['--framework'], /^create-ostiary: Option '--framework' argument is ambiguous; see --help\n$/],
    [['--storage', 'mysql'], /storage "mysql" is unknown; there are sqlite, postgres\n$/],
    [['--languages', 'en,de'], /language "de" is unknown; there are en, fr, ht, es, pt/],
    [['--languages', ''], /language "" is unknown/],
    [['--languages', 'en,en'], /name one twice/],
    [['another'], /one folder at a time/],
  ])('%j', async (args, message) => {
    const { code, output, errors } = await typed([folder, ...args, '--yes']);
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(message);
    expect(existsSync(folder)).toBe(false);
  });

  it.each(['My-App', '.hidden', '_app', 'an app', 'caf\u00e9', 'node_modules', 'http', 'a'.repeat(215)])(
    'the name %s, which npm would not take',
    async (name) => {
      const path = join(folder, name);
      expect(await typed([path, '--yes'])).toMatchObject({
        code: 1,
        errors: expect.stringContaining('npm takes'),
      });
      expect(existsSync(folder)).toBe(false);
    },
  );

  it('a folder that is not empty, a file, and a broken link', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    expect((await typed([folder, '--yes'])).errors).toBe(
      `create-ostiary: the folder ${folder} is not empty\n`,
    );
    expect(readdirSync(folder)).toEqual(['mine.txt']);
    expect((await typed([join(folder, 'mine.txt'), '--yes'])).errors).toContain('is no folder');
    symlinkSync(join(folder, 'gone'), join(folder, 'link'));
    expect((await typed([join(folder, 'link'), '--yes'])).errors).toContain('is no folder');
  });

  it('a folder that was filled while the questions were answered', async () => {
    mkdirSync(folder);
    const { code, errors } = await typed(['--storage', 'sqlite'], [folder, 'node'], (question) => {
      if (question.startsWith('Languages')) writeFileSync(join(folder, 'README.md'), 'mine');
    });
    expect([code, errors]).toEqual([1, `create-ostiary: the folder ${folder} is not empty\n`]);
    expect(readdirSync(folder)).toEqual(['README.md']);
    expect(read('README.md')).toBe('mine');
  });

  it('and removes its files again if it cannot write all of them', () => {
    const files = new Map([
      ['one.txt', '1'],
      ['two/deep.txt', '2'],
      ['one.txt/three.txt', 'where a file is'],
    ]);
    expect(() => writeFiles(join(folder, 'below'), files)).toThrow(/^cannot write /);
    expect(existsSync(folder)).toBe(false);
    mkdirSync(folder);
    expect(() => writeFiles(folder, files)).toThrow(/^cannot write /);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('a folder without write permission', async () => {
    mkdirSync(folder);
    const file = join(folder, 'a-file');
    writeFileSync(file, 'mine');
    expect(await typed([join(file, 'app'), '--yes'])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('cannot write'),
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });
});
