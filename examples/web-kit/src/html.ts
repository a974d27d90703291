const markup = Symbol('markup');

/** Markup in which everything dynamic is escaped. Only the {@link html} tag makes one. */
export interface Html {
  readonly [markup]: string;
}

type Fragment = string | Html | null | readonly Html[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function write(value: Fragment): string {
  if (value === null) return '';
  if (typeof value === 'string') {
    return value.toWellFormed().replace(/[&<>"']/g, (character) => entities[character] ?? '');
  }
  return markup in value ? value[markup] : value.map(write).join('');
}

/** Escapes what is put in: text, and values of double-quoted attributes. Addresses must be checked before. */
export function html(strings: TemplateStringsArray, ...values: readonly Fragment[]): Html {
  return { [markup]: strings.map((part, index) => part + write(values[index] ?? null)).join('') };
}

export function render(value: Html): string {
  return value[markup];
}
