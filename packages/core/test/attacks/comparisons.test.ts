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
  it('the check itself finds what tells a secret, and nothing else', () => {
    const operators = ['client.secret === presented', 'a !== form.csrf', 'String(x.secret) == y'];
    const inside = ['f(a, digest) === b', "left[0] === right.token ?? ''"];
    const calls = ['digest.equals(other)', 'Buffer.compare(a, key.digest)', 'list.includes(token)'];
    for (const text of [...operators, ...inside, ...calls, 'signature.startsWith(x)'])
      expect([text, comparisonsOfSecrets(text).length]).toEqual([text, 1]);
    const constants = [
      "secret !== null && token === ''",
      'token.length === 43',
      "typeof secret === 'string'",
    ];
    const others = ['scopes.includes(scope)', 'equalDigests(digest, other)', 'path.startsWith(prefix)'];
    for (const text of [...constants, ...others, 'secrets === tokens.length'])
      expect([text, comparisonsOfSecrets(text)]).toEqual([text, []]);
  });

  it('compares none with an operator or a call, in core and in the adapters', () => {
    expect(sources.length).toBeGreaterThan(60);
    expect(adapterSources.length).toBeGreaterThan(15);
    for (const [path, text] of [...sources, ...adapterSources])
      expect.soft(comparisonsOfSecrets(text), path).toEqual([]);
    for (const [path, text] of adapterSources) expect.soft(text, path).not.toContain('timingSafeEqual');
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
