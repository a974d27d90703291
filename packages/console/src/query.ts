/**
 * Reads a query parameter; `null` if it is missing or empty. Removes U+0000, which databases cannot store,
 * and surrounding spaces, and cuts the text to `most` characters.
 */
export function parameterOf(query: URLSearchParams, name: string, most = 300): string | null {
  const text = (query.get(name) ?? '').replaceAll('\0', '').trim().slice(0, most);
  return text === '' ? null : text;
}
