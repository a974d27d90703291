import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { adapterSources, findInTree, sources } from './sources.ts';

const operators = [
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
];

/** Methods that compare, or look for one thing in another, and stop at the first difference. */
const methods = /^(equals|compare|localeCompare|includes|indexOf|startsWith|endsWith)$/;

const secret =
  /(secret|token|digest|verifier|challenge|csrf|mac|proof|signature|password|presented|apikey)\b(?!\.length|\(|s\b)/i;

/** A side of a comparison that tells nothing: a constant, a length, a type. */
const harmless = /^(null|undefined|true|false|\d+|'[^']*'|typeof .*|.*\.length)$/s;

/** What is compared, by an operator or by a call. */
function sidesOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isBinaryExpression(node) && operators.includes(node.operatorToken.kind))
    return [node.left, node.right];
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { expression, name } = node.expression;
  return methods.test(name.text) ? [expression, ...node.arguments] : [];
}

/** Comparisons that stop at the first difference, where one side is named like a secret. */
function comparisonsOfSecrets(text: string): string[] {
  return findInTree(text, (node, source) => {
    const sides = sidesOf(node).map((side) => side.getText(source));
    const isTelling = ts.isCallExpression(node) || !sides.some((side) => harmless.test(side));
    return isTelling && sides.some((side) => secret.test(side)) ? node.getText(source) : null;
  });
}

/** The files in which a pattern stands in code. */
function filesWith(pattern: RegExp): string[] {
  const isCode = (line: string): boolean => !/^\s*(\*|\/[/*])/.test(line);
  return sources
    .filter(([, text]) => text.split('\n').some((line) => isCode(line) && pattern.test(line)))
    .map(([path]) => path);
}

describe('how the sources handle secrets', () => {
  it.each([
    ['client.secret === presented', 1],
    ['a !== form.csrf', 1],
    ['String(x.secret) == y', 1],
    ['f(a, digest) === b', 1],
    ["left[0] === right.token ?? ''", 1],
    ["secret !== null && token === ''", 0],
    ['token.length === 43', 0],
    ["typeof secret === 'string'", 0],
    ['secrets === tokens.length', 0],
    ['digest.equals(other)', 1],
    ['Buffer.compare(a, key.digest)', 1],
    ['list.includes(token)', 1],
    ['signature.startsWith(x)', 1],
    ['scopes.includes(scope)', 0],
    ['equalDigests(digest, other)', 0],
    ['path.startsWith(prefix)', 0],
  ])('the check itself finds in %s: %d', (text, count) => {
    expect(comparisonsOfSecrets(text)).toHaveLength(count);
  });

  it('there are sources to look at', () => {
    expect(sources.length).toBeGreaterThan(60);
    expect(adapterSources.length).toBeGreaterThan(15);
  });

  it.each(sources)('%s compares none with an operator or a call', (_path, text) => {
    expect(comparisonsOfSecrets(text)).toEqual([]);
  });

  it('the adapters compare none either, nor do they import what compares', () => {
    for (const [path, text] of adapterSources) {
      expect.soft(comparisonsOfSecrets(text), path).toEqual([]);
      expect.soft(text, path).not.toContain('timingSafeEqual');
    }
  });

  it('compares through one function wherever a key, a signature or a cursor is checked', () => {
    const needed = ['signer.ts', 'partner/pipeline/signature.ts', 'tokens.ts'];
    expect(filesWith(/\bequalDigests\(/)).toEqual(expect.arrayContaining(needed));
  });

  it('compares in constant time in one place only, and takes randomness from one', () => {
    expect(filesWith(/timingSafeEqual/)).toEqual(['tokens.ts']);
    expect(filesWith(/Math\.random|randomBytes|randomInt|getRandomValues/)).toEqual(['random.ts']);
  });
});
