import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { environment } from '../../../examples/reference-server/test/support/server.ts';
import { manifestOf } from '../../../packages/create-ostiary/src/manifest.ts';
import { root } from '../../support/documentation.ts';
import { runHere } from '../../support/processes/run-here.ts';
import { helpPages, program } from './support/help.ts';
import { installationFor } from './support/installation.ts';
import { commandsOf } from './support/shell.ts';

/** A text that a program may print, with the source file that contains the text. */
interface Said {
  readonly file: string;
  readonly text: string;
}

/** Collects the quoted texts in a program's source, with `…` for inserted values. */
function textsOf(file: string): Said[] {
  const texts: Said[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push({ file, text: node.text });
    if (ts.isTemplateExpression(node)) {
      const spans = node.templateSpans.map(({ literal }) => literal.text);
      texts.push({ file, text: [node.head.text, ...spans].join('…') });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest));
  return texts;
}

const filesOf = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: (path) => basename(path) === 'node_modules' }).toSorted();
const programs = filesOf('packages/*/src/**/*.ts', 'examples/*/src/**/*.ts', 'scripts/*.ts').flatMap(textsOf);
const files = filesOf(
  'deploy/**/*.{yaml,conf,example}',
  'deploy/Dockerfile',
  'packages/create-ostiary/templates/**/_*',
).map((file): Said => ({ file, text: readFileSync(join(root, file), 'utf8') }));
const refusals = 'packages/cli/test/wrong-lines.txt';
const said: readonly Said[] = [
  ...programs,
  ...files,
  // File of error messages of the command line, which one of its tests keeps complete.
  ...readFileSync(join(root, refusals), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Run '))
    .map((text) => ({ file: refusals, text: text.replace(/: .*| (?:to see|for all) .*/, '') })),
];

/** Returns the parts of the texts that match a pattern. */
const found = (form: RegExp): Said[] =>
  said.flatMap(({ file, text }) =>
    Array.from(text.matchAll(form), ([match]) => ({ file, text: match.trim() })),
  );

it('commands of `ostiary` in hints do something', async () => {
  const names = [...(await helpPages()).keys(), 'help', '--help'];
  // A lone `ostiary passport` is not a command: it names an issuer, or is part of a sentence.
  const hinted = found(/(?<=\w.*)\bostiary (?:-- )?[a-z-]+(?:<[\w |]+>|[^.:;`'"<…])*/g).flatMap(
    ({ file, text }) => {
      // A hint may go on with the purpose of the command: "… <partner> to list them", "… --help for details".
      const line = text.replace(/^ostiary (?:-- )?/, '').replace(/ (?:to|for) .*$/, '');
      const name = names
        .filter((candidate) => `${line} `.startsWith(`${candidate} `))
        .toSorted()
        .at(-1);
      const isNoun = names.some((candidate) => candidate.startsWith(`${line.split(' ')[0]} `));
      return name !== undefined || isNoun ? [{ file, line, name: name ?? line }] : [];
    },
  );
  expect(hinted.length).toBeGreaterThan(10);
  const lines = new Map(
    // Words after the name of a command may be part of the sentence instead of arguments.
    hinted.map(({ file, line, name }) => [/ (?:--|<)/.test(line) ? line : name, file]),
  );
  const problems: string[] = [];
  for (const [line, file] of lines) {
    const { env, ids } = await installationFor(line.split(' '));
    const given = new Map(
      Object.entries({
        ...{ '<partner>': 'kafe', '<time>': '2026-01-01T00:00:00Z' },
        '<endpoint id>': ids.we_ ?? '',
      }),
    );
    const [{ words = [] } = {}] = commandsOf(line);
    const args = [...words.map((word) => given.get(word) ?? word), '--yes'];
    if (words[0] === 'tail') args.push('--once');
    const { code, output, errors } = await runHere(program, args, env);
    if (code !== 0 || output === '') problems.push(`${file}: ostiary ${line}: ${code} ${output}${errors}`);
  }
  expect(problems).toEqual([]);
});

it('commands of npm in hints are scripts', () => {
  const { scripts }: { scripts: object } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const starter = {
    folder: 'app',
    framework: 'next',
    storage: 'sqlite',
    languages: ['en'],
    mcp: false,
  } as const;
  const ofStarter: { scripts: object } = JSON.parse(manifestOf(starter));
  const hinted = found(/\bnpm (?:run [\w:-]+|start|test)\b/g);
  expect(hinted.length).toBeGreaterThan(10);
  const missing = hinted.filter(({ file, text }) => {
    const isApp = file.startsWith('packages/create-ostiary/');
    const known = isApp ? { ...scripts, ...ofStarter.scripts } : scripts;
    return !Object.hasOwn(known, text.split(' ').at(-1) ?? '');
  });
  expect(missing).toEqual([]);
});

it('commands of Node in hints make a key that is taken', async () => {
  const hinted = found(/\bnode -p "[^"]+"/g);
  expect(new Set(hinted.map(({ file }) => file)).size).toBeGreaterThan(1);
  for (const { file, text } of hinted) {
    const made = execFileSync('sh', ['-c', text], { encoding: 'utf8' }).trim();
    const env = await environment({ OSTIARY_SEALING_KEYS: made });
    expect(await runHere(program, ['migrate'], env), file).toMatchObject({ code: 0, errors: '' });
  }
});
