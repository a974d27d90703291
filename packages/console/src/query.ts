/** Reads a query parameter without characters that no database stores; `null` if it is missing or empty. */
export function parameterOf(query: URLSearchParams, name: string): string | null {
  const text = (query.get(name) ?? '').replaceAll('\0', '').trim().slice(0, 300);
  return text === '' ? null : text;
}
