import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, nameOf, render, visible } from '../../src/pages/html.ts';

describe('html', () => {
  it('escapes text and attributes alike', () => {
    const hostile = `<script>alert("1")</script>&'`;
    const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;';
    expect(render(html`<p title="${hostile}">${hostile}</p>`)).toBe(`<p title="${escaped}">${escaped}</p>`);
  });

  it('lets no text whatsoever add or end an element or an attribute', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const written = render(html`<p title="${value}">${value}</p>`);
        expect(written.replace(/[^<>"]/g, '')).toBe('<"">' + '<>');
      }),
    );
  });

  it('nests fragments and arrays without escaping twice, and leaves null out', () => {
    const items = ['a&b', '<c>'].map((item) => html`<li>${item}</li>`);
    expect(render(html`<ul>${items}${null}${[1, null, ['"']]}</ul>`)).toBe(
      '<ul><li>a&amp;b</li><li>&lt;c&gt;</li>1&quot;</ul>',
    );
  });

  it('treats an object that looks like a fragment as a mistake, not as markup', () => {
    const forged = JSON.parse('{"markup":"<b>","raw":"<b>"}');
    expect(() => html`<p>${forged}</p>`).toThrow(TypeError);
  });

  it('replaces what a parser would stumble over', () => {
    expect(render(html`${'a\0b\u001bc\ud800d\ne'}`)).toBe('a\ufffdb\ufffdc\ufffdd\ne');
  });

  it.each([
    ['an unquoted attribute', () => html`<p title=${'x'}></p>`],
    ['a single-quoted attribute', () => html`<p title='${'x'}'></p>`],
    ['an attribute name', () => html`<p ${'x'}></p>`],
    ['an element name', () => html`<${'x'}></p>`],
    ['an event handler', () => html`<p onclick="${'x'}"></p>`],
    ['an event handler in capitals', () => html`<p onClick="${'x'}"></p>`],
    ['a style attribute, which the policy forbids', () => html`<p style="${'x'}"></p>`],
    ['markup inside an attribute', () => html`<p title="${html`<b>x</b>`}"></p>`],
  ])('refuses a value as %s, where escaping would not be enough', (_place, template) => {
    expect(template).toThrow(TypeError);
  });

  it('writes addresses of pages and images, and refuses others', () => {
    const scripts = ['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:alert(1)', 'vbscript:x'];
    for (const address of [...scripts, 'data:text/html,x']) {
      expect(() => html`<a href="${address}">x</a>`).toThrow(TypeError);
      expect(() => html`<form action="${address}"></form>`).toThrow(TypeError);
    }
    expect(render(html`<a href="${'/a?b=1&c=2'}">x</a>`)).toBe('<a href="/a?b=1&amp;c=2">x</a>');
    expect(render(html`<img src="${'data:image/png;base64,AA=='}">`)).toContain('data:image/png;base64,AA==');
  });
});

describe('names from outside', () => {
  it('can neither reorder the page nor hide', () => {
    const bidi = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
    for (const character of `${bidi}\u200b\u00ad\ufeff\u2028\n\u{e0041}\u3164`)
      expect(render(nameOf(`Bank${character}knaB`))).toBe('<bdi>Bank\ufffdknaB</bdi>');
  });

  it('keep letters of every script, joiners and emoji', () => {
    for (const name of ['Kòb Ayisyen', 'بازار', 'क्‍ष', '👩‍🌾 Lakou', '東京']) expect(visible(name)).toBe(name);
  });

  it('cannot draw over the lines around them with piles of accents', () => {
    expect(visible(`a${'\u0301'.repeat(300)}b`)).toBe(`a${'\u0301'.repeat(4)}b`);
  });

  it('are escaped too', () => {
    expect(render(nameOf('</bdi><b>'))).toBe('<bdi>&lt;/bdi&gt;&lt;b&gt;</bdi>');
  });
});
