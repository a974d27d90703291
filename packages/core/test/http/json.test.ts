import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/http/json.ts';

describe('strict JSON', () => {
  it.each([
    '{}',
    '[]',
    'null',
    '1',
    '"text"',
    ' {"a" : [1, {"b": null}], "c": "}{,:\\"" } ',
    '{"a":{"a":1},"b":{"a":2}}',
    '[{"a":1},{"a":1}]',
    '{"":1,"a":"\\\\","b":"\\u00e9\\ud83d\\ude42"}',
    '"😀"',
    '{"a":"\\\\u0000"}',
    '['.repeat(32) + ']'.repeat(32),
  ])('means what JSON.parse means: %s', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('refuses depth 33, and survives depth 10000', () => {
    for (const depth of [33, 10_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const)
        expect(() => parseJson(`${open.repeat(depth)}1${close.repeat(depth)}`)).toThrow('nested 32 deep');
    }
  });

  it('is not confused by brackets, quotes and commas inside strings', () => {
    for (const text of [`{"a":"${'['.repeat(100)}"}`, '{"a":"\\"a\\":1","b":"{\\"b\\":1,\\"b\\":2}"}'])
      expect(parseJson(text)).toEqual(JSON.parse(text));
  });
});
