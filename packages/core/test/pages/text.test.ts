import { describe, expect, it } from 'vitest';
import { shippedLanguages } from '../../src/languages/load.ts';
import { fill, fillTitle } from '../../src/pages/fill.ts';
import { nameOf, render } from '../../src/pages/html.ts';
import { holesOf } from '../../src/text/placeholders.ts';
import { languageOf } from './views.ts';

/** All texts with their path, those of the scopes too. */
function leaves(value: unknown, path = 'text'): (readonly [path: string, words: string])[] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value ?? {}).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

const wordsOf = (tag: string) => {
  const { months: _, ...texts } = languageOf(tag).texts;
  return leaves(texts);
};

describe('the words of the pages', () => {
  // That they are the same in every language the compiler sees.
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

  it.each(shippedLanguages)('in %s: name whoever they speak of', (tag) => {
    const named = (of: string) => wordsOf(of).map(([path, words]) => [path, holesOf(words)]);
    expect(named(tag)).toEqual(named('en'));
  });

  it('keep French punctuation on its line', () => {
    for (const [path, words] of wordsOf('fr'))
      expect(words, path).not.toMatch(/ [:;?!»]|« |[^\u00a0][:;?!»]/);
  });
});

describe('a text', () => {
  it('takes markup where its braces are, and escapes what stands around it', () => {
    const filled = fill('<b> {client} & {client}', { client: nameOf('A<i>') });
    expect(render(filled)).toBe('&lt;b&gt; <bdi>A&lt;i&gt;</bdi> &amp; <bdi>A&lt;i&gt;</bdi>');
    expect(render(fill('no {other} braces', {}))).toBe('no  braces');
  });

  it('is not filled twice: a name that looks like braces stays as it is', () => {
    expect(fillTitle('Allow {client}?', { client: '{client} $& {service}' })).toBe(
      'Allow {client} $& {service}?',
    );
    expect(render(fill('{a}{b}', { a: '{b}', b: '{a}' }))).toBe('{b}{a}');
  });
});
