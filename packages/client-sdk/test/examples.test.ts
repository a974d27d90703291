import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { compilerErrors } from '../../../lab/support/compiler-errors.ts';

const root = resolve(import.meta.dirname, '../../..');
const entries = {
  '@ostiary/client-sdk': 'src/index.ts',
  '@ostiary/client-sdk/oauth': 'src/oauth/index.ts',
  '@ostiary/client-sdk/reconciliation': 'src/reconciliation/index.ts',
};

const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
const options: ts.CompilerOptions = {
  ...ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root).options,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
  noUnusedLocals: false,
  verbatimModuleSyntax: false,
};

interface Documented {
  readonly name: string;
  readonly text: string;
  /** True for a function, and for a class or interface with methods; these need an example. */
  readonly isCalled: boolean;
  readonly examples: readonly string[];
}

/** Returns the public methods of a class or interface of this package. */
function methodsOf(symbol: ts.Symbol): ts.Symbol[] {
  return [...(symbol.members?.values() ?? [])].filter(({ name, declarations = [] }) =>
    declarations.some(
      (declaration) =>
        (ts.isMethodDeclaration(declaration) || ts.isMethodSignature(declaration)) &&
        ts.isIdentifier(declaration.name) &&
        name !== 'toString',
    ),
  );
}

/** Returns the exports of all entry points with their methods, by the module that exports them. */
function publicSurface(): Map<string, Documented[]> {
  const files = Object.values(entries).map((file) => join(import.meta.dirname, '..', file));
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const documented = (symbol: ts.Symbol, name: string): Documented => ({
    name,
    text: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    isCalled: (symbol.flags & ts.SymbolFlags.Function) !== 0 || methodsOf(symbol).length > 0,
    examples: symbol
      .getJsDocTags(checker)
      .filter((tag) => tag.name === 'example')
      .map(({ text }) => /```ts\n([\s\S]*?)```/.exec(ts.displayPartsToString(text))?.[1] ?? ''),
  });
  return new Map(
    Object.keys(entries).map((module, index) => {
      const source = program.getSourceFile(files[index] ?? '');
      const exported = source && checker.getSymbolAtLocation(source);
      const symbols = (exported ? checker.getExportsOfModule(exported) : []).map((symbol) => {
        const original = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
        return [
          documented(original, symbol.name),
          ...methodsOf(original).map((method) => documented(method, `${symbol.name}.${method.name}`)),
        ];
      });
      return [module, symbols.flat()];
    }),
  );
}

/** Adds the imports and clients that an example in the documentation takes for granted. */
function programOf(example: string, surface: Map<string, Documented[]>): string {
  const declares = (name: string) => new RegExp(`\\b(?:const|let|class|type)\\s+${name}\\b`).test(example);
  const uses = (name: string) => new RegExp(`\\b${name}\\b`).test(example) && !declares(name);
  const lines = [...surface].map(([module, symbols]) => {
    const names = symbols.map(({ name }) => name).filter((name) => !name.includes('.') && uses(name));
    return `import { ${names.join(', ')} } from '${module}';`;
  });
  if (uses('ostiary')) {
    lines.push(`declare const ostiary: import('@ostiary/client-sdk').OstiaryPartner;`);
  }
  if (uses('oauth')) {
    lines.push(`declare const oauth: import('@ostiary/client-sdk/oauth').OstiaryOAuth;`);
  }
  return `${lines.join('\n')}\n${example}\nexport {};\n`;
}

describe('the documentation of every public symbol', () => {
  const surface = publicSurface();
  // Users do not call the methods of a logger.
  const all = [...surface.values()].flat().filter(({ name }) => !/^Logger\b/.test(name));

  it('describes it, and has an example for each function', () => {
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(({ text }) => text === '').map(({ name }) => name)).toEqual([]);
    const called = all.filter(({ isCalled }) => isCalled);
    expect(called.length).toBeGreaterThan(10);
    const shown = all.filter(({ examples }) => examples.length > 0).map(({ name }) => name.split('.')[0]);
    expect(called.map(({ name }) => name.split('.')[0]).filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('has examples that compile, under the strict options of the project', () => {
    const files = new Map(
      all.flatMap(({ name, examples }) =>
        examples.map((example, index) => [
          join(import.meta.dirname, `example-${name}-${index}.ts`),
          programOf(example, surface),
        ]),
      ),
    );
    expect(compilerErrors(files, options)).toEqual({});
  }, 120_000);
});
