import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { findInTree, sources } from './sources.ts';

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
