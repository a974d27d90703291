import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { compilerErrors } from '../../support/compiler-errors.ts';
import { blocksOf, pages, root } from '../../support/documentation.ts';

/** Declarations of the reader's application, which code blocks of the documentation use. */
const readersApp = `
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Authentication, Login, UserDirectory, UserRecord } from '@ostiary/core';
export declare const app: RequestListener;
export declare const login: Login;
export declare const sealingKey: string;
export declare const users: UserDirectory;
export declare function findUser(sub: string): Promise<UserRecord | null>;
export declare function sessionOf(request: IncomingMessage): Promise<Authentication | null>;
export declare class AppModule {}
`;

/** Declarations that Prisma generates from the reader's schema. */
const readersPrisma = `
interface Transaction {
  readonly order: {
    update(change: { readonly where: { readonly id: string }; readonly data: { readonly state: string } }): Promise<unknown>;
  };
  $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): Promise<Rows>;
}
export interface PrismaClient {
  $transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>;
}
`;

/** File in which the reader of the documentation has called `createOstiary`. */
const readersOstiary = `
import type { Ostiary } from '@ostiary/core';
export declare const ostiary: Ostiary;
export declare function openOstiary(): Promise<Ostiary>;
`;

/**
 * Folders with the packages that the code blocks of a page import, if the packages are not in the root
 * folder.
 */
const homes: { readonly [page: string]: string } = { 'docs/mounting.md': 'examples/mounts' };

/**
 * Collects every TypeScript block of every documentation page, by the path of a file below `lab/tests/docs`
 * or in a folder of {@link homes}. A later block of a page may use declarations of an earlier block. Blocks
 * that begin with the name of their file (`// server.ts`) form a folder and may import each other.
 */
function blocks(): Map<string, string> {
  const files = new Map<string, string>();
  for (const page of pages()) {
    let earlier = '';
    for (const [index, code] of blocksOf(page, 'ts').entries()) {
      const [, named] = /^\/\/ ([\w-]+\.ts)\n/.exec(code) ?? [];
      if (named !== undefined) {
        files.set(join(root, 'lab/tests/docs', page.replaceAll('/', '-'), named), `${code}\nexport {};\n`);
        continue;
      }
      const usesEarlier = !/^import /m.test(code) && earlier !== '';
      const source = usesEarlier ? `${earlier}\n${code}` : code;
      if (!usesEarlier) earlier = code;
      files.set(
        join(root, homes[page] ?? 'lab/tests/docs', `${page.replaceAll('/', '-')}-${index}.ts`),
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
    for (const folder of new Set(Array.from(files.keys(), (name) => dirname(name)))) {
      for (const [name, code] of Object.entries({
        'your-app.ts': readersApp,
        'ostiary.ts': readersOstiary,
        'generated/client.ts': readersPrisma,
      }))
        if (!files.has(join(folder, name))) files.set(join(folder, name), code);
    }
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
    const options: ts.CompilerOptions = {
      ...parsed.options,
      lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
      noUnusedLocals: false,
    };
    expect(compilerErrors(files, options)).toEqual({});
    // Long time limit, because the types of whole frameworks are read.
  }, 120_000);

  it('that say they are JSON are', () => {
    const all = pages().flatMap((page) => blocksOf(page, 'json').map((block) => ({ page, block })));
    expect(all.length).toBeGreaterThan(4);
    for (const { page, block } of all) expect(() => JSON.parse(block), `${page}: ${block}`).not.toThrow();
  });
});
