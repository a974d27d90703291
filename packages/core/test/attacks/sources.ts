import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const root = new URL('../../src/', import.meta.url);
const packages = new URL('../../../', import.meta.url);

/** The sources of core, by their path below `src`. */
export const sourceFiles: readonly string[] = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts'),
);

/** The sources of the adapters, by their path below `packages`. */
export const adapterFiles: readonly string[] = readdirSync(packages)
  .filter((name) => name.startsWith('adapter-'))
  .flatMap((name) =>
    readdirSync(new URL(`${name}/src/`, packages), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${name}/src/${file}`),
  );

/** A source of an adapter as its author wrote it. */
export function adapterSourceOf(file: string): string {
  return readFileSync(new URL(file, packages), 'utf8');
}

/** A source as its author wrote it. */
export function sourceOf(file: string): string {
  return readFileSync(new URL(file, root), 'utf8');
}

/** Everything that a visitor finds in the syntax tree of a text. */
export function findInTree<Found>(
  text: string,
  look: (node: ts.Node, source: ts.SourceFile) => Found | null,
): Found[] {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    const what = look(node, source);
    if (what !== null) found.push(what);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
