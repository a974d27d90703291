/**
 * Reads a query parameter; `null` if it is missing or empty. Removes U+0000, which databases cannot store,
 * and surrounding spaces, and cuts the text to 300 characters.
 */
export function parameterOf(query: URLSearchParams, name: string): string | null {
  const text = (query.get(name) ?? '').replaceAll('\0', '').trim().slice(0, 300);
  return text === '' ? null : text;
}
