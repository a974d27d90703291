import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const packages = new URL('../../../', import.meta.url);

/** The sources below a folder of `packages`, as their authors wrote them, by their path in it. */
function sourcesBelow(folder: string): readonly (readonly [path: string, text: string])[] {
  const root = new URL(folder, packages);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(new URL(path, root), 'utf8')] as const);
}

/** The sources of core. */
const sources = sourcesBelow('core/src/');

/** The sources of the adapters. */
const adapterSources = ['adapter-postgres/src/', 'adapter-sqlite/src/'].flatMap(sourcesBelow);

/** Everything that a visitor finds in the syntax tree of a text. */
function findInTree<Found>(
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

const operators = /^[!=]==?$/;

/** Methods that compare, or look for one thing in another, and stop at the first difference. */
const methods = /^(equals|compare|localeCompare|includes|indexOf|startsWith|endsWith)$/;

const secret =
  /(secret|token|digest|verifier|challenge|csrf|mac|proof|signature|password|presented|apikey)\b(?!\.length|\(|s\b)/i;

/** A side of a comparison that tells nothing: a constant, a length, a type. */
const harmless = /^(null|undefined|true|false|\d+|'[^']*'|typeof .*|.*\.length)$/s;

/** What is compared, by an operator or by a call. */
function sidesOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isBinaryExpression(node) && operators.test(ts.tokenToString(node.operatorToken.kind) ?? ''))
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

  it('compares through one function wherever a key, a signature or the token of a form is checked', () => {
    const needed = ['http/csrf.ts', 'partner/pipeline/signature.ts', 'tokens.ts'];
    expect(filesWith(/\bequalDigests\(/)).toEqual(expect.arrayContaining(needed));
  });

  it('compares in constant time in one place only, and takes randomness from one', () => {
    expect(filesWith(/timingSafeEqual/)).toEqual(['tokens.ts']);
    expect(filesWith(/Math\.random|randomBytes|randomInt|getRandomValues/)).toEqual(['random.ts']);
  });
});

function compiled(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

/** How texts begin that something is looked for in, and what such a text can consist of. */
const headers = ['', 'basic ', 'Bearer ', 'q=0.', 'svc_at_'];
const addresses = ['https://', 'com.example.', '::ffff:', 'data:image/', '127.', '<p a="'];
const prefixes = [...headers, ...addresses];
const pairs = ['a-', 'a.', '.a', ' ,', 'a b', '0.', '%41', '="" a', 'a:', '\u0301a', '-a1'];
const pumps = [...' aA0-.:/%",;=<\n\t[@_~+*é\u0301\u202e\0', ...pairs];
const suffixes = ['', '!', '\0', '\n'];

function timeOf(expression: RegExp, text: string): number {
  const start = performance.now();
  if (expression.global) text.replace(expression, '');
  else expression.test(text);
  return performance.now() - start;
}

const tooSlowMs = 40;

/** A text of this length that takes too long, twice because the machine may have been busy the first time. */
function slowText(expression: RegExp, length: number): string | null {
  for (const prefix of prefixes) {
    for (const pump of pumps) {
      for (const suffix of suffixes) {
        const text = prefix + pump.repeat(length / pump.length) + suffix;
        const isSlow = timeOf(expression, text) > tooSlowMs && timeOf(expression, text) > tooSlowMs;
        if (isSlow) return `${length} characters such as ${JSON.stringify(text.slice(0, 40))}`;
      }
    }
  }
  return null;
}

/**
 * Longer texts only where shorter ones were quick, so that an exponential expression fails instead of
 * hanging.
 */
function expectQuick(literal: string): void {
  for (const length of [20, 24, 200, 16_000]) expect(slowText(compiled(literal), length)).toBeNull();
}

describe('no regular expression can be made slow by a caller', () => {
  const expressions = sources.flatMap(([, text]) =>
    findInTree(text, (node) => (ts.isRegularExpressionLiteral(node) ? node.text : null)),
  );
  const all = [...new Set(expressions)];

  it('the check itself notices slow ones', () => {
    expect(() => expectQuick('/^(a+)+$/')).toThrow();
    expect(() => expectQuick('/\\s+$/')).toThrow();
  });

  it('finds them', () => expect(all.length).toBeGreaterThan(30));

  it.each(all)('%s', expectQuick);
});
