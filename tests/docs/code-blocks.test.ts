import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** What a reader has in their own application. */
const readersApp = `
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Authentication, Login, UserDirectory, UserRecord } from '@ostiary/core';
export declare const app: RequestListener;
export declare const login: Login;
export declare const sealingKey: string;
export declare const users: UserDirectory;
export declare function findUser(sub: string): Promise<UserRecord | null>;
export declare function sessionOf(request: IncomingMessage): Promise<Authentication | null>;
`;

function pages(): string[] {
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return found.filter(
    (name) => name.endsWith('.md') && !/(^|\/)(node_modules|\.git|\.changeset|\.data)\//.test(name),
  );
}

/** Every TypeScript block of every page, by a file name beside the page. A later block of a page may use what an earlier one declared. */
function blocks(): Map<string, string> {
  const files = new Map<string, string>();
  for (const page of pages()) {
    const text = readFileSync(join(root, page), 'utf8');
    let earlier = '';
    for (const [index, [, code = '']] of Array.from(text.matchAll(/^```ts\n([\s\S]*?)^```/gm)).entries()) {
      const usesEarlier = !/^import /m.test(code) && earlier !== '';
      const source = usesEarlier ? `${earlier}\n${code}` : code;
      if (!usesEarlier) earlier = code;
      files.set(
        join(root, 'tests/docs', `${page.replaceAll('/', '-')}-${index}.ts`),
        `${source}\nexport {};\n`,
      );
    }
  }
  return files;
}

describe('code blocks of the documentation', () => {
  it('compile, under the strict options of the project', () => {
    const files = blocks();
    expect(files.size).toBeGreaterThan(8);
    files.set(join(root, 'tests/docs/your-app.ts'), readersApp);
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
    const options: ts.CompilerOptions = {
      ...parsed.options,
      lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
      noUnusedLocals: false,
    };
    const host = ts.createCompilerHost(options);
    const { fileExists, readFile, getSourceFile } = host;
    host.fileExists = (name) => files.has(name) || fileExists(name);
    host.readFile = (name) => files.get(name) ?? readFile(name);
    host.getSourceFile = (name, language) => {
      const text = files.get(name);
      return text === undefined ? getSourceFile(name, language) : ts.createSourceFile(name, text, language);
    };
    const program = ts.createProgram([...files.keys()], options, host);
    const problems = ts
      .getPreEmitDiagnostics(program)
      .filter(({ file }) => file !== undefined && files.has(file.fileName))
      .map(
        ({ file, messageText }) =>
          `${relative(root, file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      );
    expect(problems).toEqual([]);
  });

  it('and links between pages lead somewhere', () => {
    const broken = pages().flatMap((page) => {
      const text = readFileSync(join(root, page), 'utf8');
      const links = Array.from(
        text.matchAll(/\]\((?!https?:|#|mailto:)([^)#]+)(#[^)]*)?\)/g),
        ([, target = '']) => target,
      );
      const leads = (target: string) => existsSync(resolve(root, page, '..', target));
      return links.filter((target) => !leads(target)).map((target) => `${page}: ${target}`);
    });
    expect(broken).toEqual([]);
  });
});
