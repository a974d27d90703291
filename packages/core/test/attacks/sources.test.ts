import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = new URL('../../src/', import.meta.url);

/** Source files of the core package, by path. */
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => [path, readFileSync(new URL(path, root), 'utf8')] as const);

/** Returns the source files in whose code a pattern occurs. */
function filesWith(pattern: RegExp): string[] {
  const isCode = (line: string): boolean => !/^\s*(\*|\/[/*])/.test(line);
  return sources
    .filter(([, text]) => text.split('\n').some((line) => isCode(line) && pattern.test(line)))
    .map(([path]) => path);
}

describe('how the sources handle secrets', () => {
  it('compares through one function wherever a token, a code, a signature or a secret is checked', () => {
    const own = [
      'http/csrf.ts',
      'oauth/client-authentication.ts',
      'oauth/refresh.ts',
      'oauth/token.ts',
      'passports/passports.ts',
      'idempotency/repeatable-request.ts',
      'secrets/tokens.ts',
    ];
    expect(filesWith(/\bequalDigests\(/).sort()).toEqual([...own, 'partner/pipeline/signature.ts'].sort());
  });

  it('compares in constant time in one place only, and takes randomness from one', () => {
    expect(filesWith(/timingSafeEqual/)).toEqual(['secrets/tokens.ts']);
    expect(filesWith(/Math\.random|randomBytes|randomInt|getRandomValues/)).toEqual(['secrets/random.ts']);
  });
});

function compiled(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

/** Texts with which a regular expression is tried: how they begin, and the parts of which they consist. */
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

/**
 * Returns a text of this length for which a regular expression takes too long, or `null`. Measures twice,
 * because the machine may have been busy the first time.
 */
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
 * Checks that a regular expression is fast on hostile texts. Longer texts are tried only if shorter ones were
 * fast, so that an exponential expression fails the test instead of hanging it.
 */
function expectQuick(literal: string): void {
  for (const length of [20, 24, 200, 16_000]) expect(slowText(compiled(literal), length)).toBeNull();
}

describe('no regular expression can be made slow by a caller', () => {
  const all = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) all.add(node.text);
    ts.forEachChild(node, visit);
  };
  for (const [path, text] of sources) visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));

  it('the check itself notices slow ones', () => {
    expect(() => expectQuick('/^(a+)+$/')).toThrow();
    expect(() => expectQuick('/\\s+$/')).toThrow();
  });

  it('finds them', () => expect(all.size).toBeGreaterThan(30));

  it.each([...all])('%s', expectQuick);
});
