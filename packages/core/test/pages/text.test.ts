import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shippedLanguages } from '../../src/languages/load.ts';
import { fill, fillText } from '../../src/pages/fill.ts';
import { nameOf, render } from '../../src/pages/html.ts';
import { languageFiles } from '../../src/scopes/consent-texts.ts';
import { argumentsOf } from '../../src/text/messages.ts';

/** Lists all texts with their paths, including those of the scopes. */
function leaves(value: unknown, path = 'text'): (readonly [path: string, words: string])[] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value ?? {}).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

const wordsOf = (tag: keyof typeof languageFiles) => {
  const { months: _, ...texts }: { readonly consent: object; readonly months?: unknown } = languageFiles[tag];
  return leaves(texts);
};

describe('the words of the pages', () => {
  // The compiler checks that every language has the same texts.
  it.each(shippedLanguages)('in %s: none is empty, left untranslated or breaks off', (tag) => {
    const english = new Map(wordsOf('en'));
    expect(wordsOf(tag)).toHaveLength(english.size);
    for (const [path, words] of wordsOf(tag)) {
      expect(words.trim(), path).toBe(words);
      expect(words, path).not.toBe('');
      if (tag !== 'en') expect(words, path).not.toBe(english.get(path));
      expect(words, path).not.toMatch(/'|"|\.\.\.| {2}/);
    }
  });

  it.each(shippedLanguages)('in %s: have the same placeholders as in English', (tag) => {
    const named = (of: Parameters<typeof wordsOf>[0]) =>
      wordsOf(of).map(([path, words]) => [path, argumentsOf(words)]);
    expect(named(tag)).toEqual(named('en'));
  });

  it('ship as one file for each language', () => {
    const files = readdirSync(new URL('../../languages', import.meta.url));
    expect(files.sort()).toEqual(shippedLanguages.map((tag) => `${tag}.json`).sort());
  });

  it('keep French punctuation on its line', () => {
    for (const [path, words] of wordsOf('fr'))
      expect(words, path).not.toMatch(/ [:;?!»]|« |[^\u00a0][:;?!»]/);
  });
});

describe('a text', () => {
  it('takes markup in its arguments, and is escaped itself', () => {
    const filled = fill('en', '<b> {client} & {client}', { client: nameOf('A<i>') });
    expect(render(filled)).toBe('&lt;b&gt; <bdi>A&lt;i&gt;</bdi> &amp; <bdi>A&lt;i&gt;</bdi>');
    expect(render(fill('en', '{none}{zero}', { none: null, zero: 0 }))).toBe('0');
  });

  it('is not formatted twice: a name with braces stays as it is', () => {
    expect(fillText('en', 'Allow {client}?', { client: '{client} $& {service}' })).toBe(
      'Allow {client} $& {service}?',
    );
    expect(render(fill('en', '{a}{b}', { a: '{b}', b: '{a}' }))).toBe('{b}{a}');
  });

  it('is never shown with an argument missing', () => {
    expect(() => fill('en', 'no {other} value', {})).toThrow('other');
  });

  it('is an ICU message: choices by number and word, and apostrophes that quote braces', () => {
    const text = '{count, plural, one {# app} other {# apps}}{more, select, true { or more} other {}}';
    expect(argumentsOf(text)).toEqual(['count', 'more']);
    expect(fillText('en', text, { count: 1, more: false })).toBe('1 app');
    expect(fillText('en', text, { count: 1200, more: true })).toBe('1,200 apps or more');
    expect(fillText('fr', "l'{client}' et l''{client}", { client: 'Rara' })).toBe("l{client} et l'Rara");
  });
});
