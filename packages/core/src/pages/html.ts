// Not exported: a fragment that carries this key was made in this file, so its markup is escaped.
const markup = Symbol('markup');

/** Markup in which everything dynamic is escaped. Only the {@link html} tag makes one. */
export interface Html {
  readonly [markup]: string;
}

/** Values for a template. `null` adds nothing. */
export type Fragment = string | number | Html | null | readonly Fragment[];

/** The attribute in which a hole of a template stands, `null` in text. */
type Hole = string | null;

const entities: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// Control characters and halves of surrogate pairs are parse errors in HTML.
const unprintable = /(?![\t\n\r])[\p{Cc}\p{Cs}]/gu;

function escapeText(text: string): string {
  return text.replace(unprintable, '\ufffd').replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

const holesOf = new WeakMap<TemplateStringsArray, readonly Hole[]>();

/** Runs once per template, so that a place where escaping cannot help never goes live. */
function parseHoles(strings: TemplateStringsArray): readonly Hole[] {
  let before = '';
  return strings.slice(0, -1).map((part): Hole => {
    before += part;
    const tag = before.slice(before.lastIndexOf('<'));
    const inText = before.lastIndexOf('<') <= before.lastIndexOf('>');
    if (inText) return null;
    const attribute = /\s([a-z-]+)="[^"]*$/i.exec(tag)?.[1]?.toLowerCase();
    if (attribute === undefined || /^(on.*|style|srcdoc)$/.test(attribute)) {
      throw new TypeError(
        `html: a value may not stand at "${tag}…"; put it in text or in a double-quoted attribute`,
      );
    }
    return attribute;
  });
}

/** The address, if a browser that follows it stays with http(s) or, for an image, with image data. */
function safeAddress(attribute: string, value: string): string {
  const image = attribute === 'src' || attribute === 'href';
  if (image && /^data:image\//.test(value)) return value;
  const base = 'https://page.invalid/';
  if (!URL.canParse(value, base) || !/^https?:$/.test(new URL(value, base).protocol)) {
    throw new TypeError(`html: ${attribute} must be an http(s) address or a path`);
  }
  return value;
}

function write(value: Fragment, attribute: Hole): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') {
    const isAddress = attribute !== null && /^(href|src|action)$/.test(attribute);
    return escapeText(isAddress ? safeAddress(attribute, value) : value);
  }
  if (attribute !== null) throw new TypeError(`html: the attribute ${attribute} takes text, not markup`);
  if (markup in value) return value[markup];
  return value.map((item) => write(item, attribute)).join('');
}

/**
 * Makes markup from a template. All values are escaped, in text and in double-quoted attributes; fragments
 * nest, arrays are joined. There is no way to insert raw text, and a place in which escaping would not
 * suffice is a `TypeError`.
 *
 * @example
 * const row = html`<li title="${title}">${items.map((item) => html`<b>${item}</b>`)}</li>`;
 */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  const holes = holesOf.get(strings) ?? parseHoles(strings);
  holesOf.set(strings, holes);
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) {
    text += write(value, holes[index] ?? null) + (strings[index + 1] ?? '');
  }
  return { [markup]: text };
}

/** The finished text of a fragment. */
export function render(value: Html): string {
  return value[markup];
}

// Matches what reorders, hides or breaks text, and nothing that a script needs: the joiners U+200C and
// U+200D stay.
const deceptive =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** A name from outside for attributes and titles: what could reorder or hide text is replaced by U+FFFD. */
export function visible(name: string): string {
  // Piles of combining marks would draw over the lines around the name.
  return name.replace(deceptive, '\ufffd').replace(/(\p{M}{4})\p{M}+/gu, '$1');
}

/** A name from outside: its direction of writing cannot touch the words around it (Unicode UAX 9). */
export function nameOf(name: string): Html {
  return html`<bdi>${visible(name)}</bdi>`;
}
