/** Values of a path template or a query, by name. */
export type Values = { readonly [name: string]: unknown };

/**
 * Puts values into a path template such as `/v1/partner/payments/{id}`, each as exactly one path segment.
 * @throws TypeError for a value that cannot be a segment
 */
export function pathOf(template: string, values: Values): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    // URL parsers remove dot segments, encoded or not; a lone surrogate cannot be encoded.
    if (typeof value !== 'string' || /^\.{0,2}$|[\ud800-\udfff]/u.test(value)) {
      throw new TypeError(`${name} must be a string, and not empty or dots`);
    }
    return encodeURIComponent(value);
  });
}

/** Formats the values that are defined as a query string, and times as ISO 8601. */
export function queryOf(values: Values): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}
