import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

const packages = new URL('../../../', import.meta.url);

/** The sources below a folder of `packages`, as their authors wrote them, by their path in it. */
function sourcesBelow(folder: string): readonly (readonly [path: string, text: string])[] {
  const root = new URL(folder, packages);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(new URL(path, root), 'utf8')] as const);
}

/** The sources of core. */
export const sources = sourcesBelow('core/src/');

/** The sources of the adapters. */
export const adapterSources = ['adapter-postgres/src/', 'adapter-sqlite/src/'].flatMap(sourcesBelow);

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
