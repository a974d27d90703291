import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { adapterFiles, adapterSourceOf, findInTree, sourceFiles, sourceOf } from './sources.ts';

const operators = [
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
];

const secret =
  /(secret|token|digest|verifier|challenge|csrf|mac|proof|signature|password|presented|apikey)\b(?!\.length|\(|s\b)/i;

/** A side of a comparison that tells nothing: a constant, a length, a type. */
const harmless = /^(null|undefined|true|false|\d+|'[^']*'|typeof .*|.*\.length)$/s;

/**
 * Comparisons with an operator, which stops at the first difference, where one side is named like a secret.
 */
function comparisonsOfSecrets(text: string): string[] {
  return findInTree(text, (node, source) => {
    if (!ts.isBinaryExpression(node) || !operators.includes(node.operatorToken.kind)) return null;
    const sides = [node.left.getText(source), node.right.getText(source)];
    return sides.some((side) => harmless.test(side)) || !sides.some((side) => secret.test(side))
      ? null
      : node.getText(source);
  });
}

/**
 * Calls that compare, or look for one thing in another, and stop at the first difference, where one side is
 * named like a secret.
 */
function callsThatCompareSecrets(text: string): string[] {
  return findInTree(text, (node, source) => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return null;
    const { expression, name } = node.expression;
    if (!/^(equals|compare|localeCompare|includes|indexOf|startsWith|endsWith)$/.test(name.text)) return null;
    const sides = [expression, ...node.arguments].map((side) => side.getText(source));
    return sides.some((side) => secret.test(side)) ? node.getText(source) : null;
  });
}

/** The files in which a pattern stands in code. */
function filesWith(pattern: RegExp): string[] {
  const isCode = (line: string): boolean => !/^\s*(\*|\/[/*])/.test(line);
  return sourceFiles.filter((file) =>
    sourceOf(file)
      .split('\n')
      .some((line) => isCode(line) && pattern.test(line)),
  );
}

describe('how the sources handle secrets', () => {
  it.each([
    [comparisonsOfSecrets, 'client.secret === presented', 1],
    [comparisonsOfSecrets, 'a !== form.csrf', 1],
    [comparisonsOfSecrets, 'String(x.secret) == y', 1],
    [comparisonsOfSecrets, 'f(a, digest) === b', 1],
    [comparisonsOfSecrets, "left[0] === right.token ?? ''", 1],
    [comparisonsOfSecrets, "secret !== null && token === ''", 0],
    [comparisonsOfSecrets, 'token.length === 43', 0],
    [comparisonsOfSecrets, "typeof secret === 'string'", 0],
    [comparisonsOfSecrets, 'secrets === tokens.length', 0],
    [callsThatCompareSecrets, 'digest.equals(other)', 1],
    [callsThatCompareSecrets, 'Buffer.compare(a, key.digest)', 1],
    [callsThatCompareSecrets, 'list.includes(token)', 1],
    [callsThatCompareSecrets, 'signature.startsWith(x)', 1],
    [callsThatCompareSecrets, 'scopes.includes(scope)', 0],
    [callsThatCompareSecrets, 'equalDigests(digest, other)', 0],
    [callsThatCompareSecrets, 'path.startsWith(prefix)', 0],
  ])('the check itself, %o, finds in %s: %d', (check, text, count) => {
    expect(check(text)).toHaveLength(count);
  });

  it('there are sources to look at', () => {
    expect(sourceFiles.length).toBeGreaterThan(60);
    expect(adapterFiles.length).toBeGreaterThan(15);
  });

  it.each(sourceFiles)('%s compares none with an operator or a call', (file) => {
    expect(comparisonsOfSecrets(sourceOf(file))).toEqual([]);
    expect(callsThatCompareSecrets(sourceOf(file))).toEqual([]);
  });

  it('the adapters compare none either, nor do they import what compares', () => {
    for (const file of adapterFiles) {
      const text = adapterSourceOf(file);
      expect.soft(comparisonsOfSecrets(text), file).toEqual([]);
      expect.soft(callsThatCompareSecrets(text), file).toEqual([]);
      expect.soft(text, file).not.toContain('timingSafeEqual');
    }
  });

  it('compares through one function wherever a key, a signature or a cursor is checked', () => {
    expect(filesWith(/\bequalDigests\(/)).toEqual(
      expect.arrayContaining(['signer.ts', 'partner/pipeline/signature.ts', 'tokens.ts']),
    );
  });

  it('compares in constant time in one place only', () => {
    expect(filesWith(/timingSafeEqual/)).toEqual(['tokens.ts']);
  });

  it('takes randomness from one place only', () => {
    expect(filesWith(/Math\.random|randomBytes|randomInt|getRandomValues/)).toEqual(['random.ts']);
  });
});
