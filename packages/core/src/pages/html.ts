// Not exported, so that only this file can create fragments with this key, whose markup is escaped.
const markup = Symbol('markup');

/** Markup in which all dynamic values are escaped. Only the {@link html} tag creates it. */
export interface Html {
  readonly [markup]: string;
}

/** A value for a placeholder of an HTML template. `null` inserts nothing. */
export type Fragment = string | number | Html | null | readonly Fragment[];

/** Name of the attribute that contains a template's placeholder; `null` for a placeholder in text. */
type Hole = string | null;

const entities: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// Control characters and lone surrogates are parse errors in HTML.
const unprintable = /(?![\t\n\r])[\p{Cc}\p{Cs}]/gu;

function escapeText(text: string): string {
  return text.replace(unprintable, '\ufffd').replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

const holesOf = new WeakMap<TemplateStringsArray, readonly Hole[]>();

/**
 * Finds the context of each placeholder in an HTML template. Throws for contexts in which escaping would not
 * be safe. Runs once per template, so such a mistake shows at once.
 */
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

/**
 * Checks the URL in an attribute: http(s) or relative, or also image data in `src` and `href`. @throws
 * TypeError for any other URL
 */
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
 * Creates markup from an HTML template. All values are escaped, in text and in double-quoted attributes;
 * fragments can be nested, and arrays are joined. Raw text cannot be inserted, and a placeholder where
 * escaping would not suffice throws a `TypeError`.
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

/** Returns the HTML text of a fragment. */
export function render(value: Html): string {
  return value[markup];
}

// Characters that reorder, hide or break text. Leaves out the joiners U+200C and U+200D, which some scripts
// need.
const deceptive =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Makes a name that others chose safe for attributes and titles: replaces characters that could reorder or
 * hide text with U+FFFD.
 */
export function visible(name: string): string {
  // Cut long runs of combining marks, which would overlap the lines around the name.
  return name.replace(deceptive, '\ufffd').replace(/(\p{M}{4})\p{M}+/gu, '$1');
}

/**
 * Renders a name that others chose, so that its writing direction cannot affect the text around it (Unicode
 * UAX 9).
 */
export function nameOf(name: string): Html {
  return html`<bdi>${visible(name)}</bdi>`;
}
