/** Headers that every request has. Other encodings of the response would need decompression. */
const fixedHeaders = ['user-agent', 'Ostiary-Webhooks/1', 'accept', '*/*', 'accept-encoding', 'identity'];

/** Returns headers for the HTTP client as alternating names and values, the fixed ones first. */
export function handedHeaders(headers: Readonly<Record<string, string>>): string[] {
  const handed = [...fixedHeaders];
  for (const name of Object.keys(headers)) handed.push(name, headers[name] ?? '');
  return handed;
}

/** Returns alternating names and values as pairs. */
function pairsOf(lines: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: lines.length / 2 }, (_, index) => [
    lines[2 * index] ?? '',
    lines[2 * index + 1] ?? '',
  ]);
}

/**
 * Returns all headers of a request in the order in which they are sent: HTTP adds those for target and length
 * around the others.
 */
export function sentHeaders(
  { host }: URL,
  headers: Readonly<Record<string, string>>,
  length: number,
): [name: string, value: string][] {
  const handed = handedHeaders(headers);
  return pairsOf(['host', host, 'connection', 'keep-alive', ...handed, 'content-length', `${length}`]);
}

/** Returns all headers of a request to an inbox, which has neither a host nor a connection. */
export function inboxHeaders(
  headers: Readonly<Record<string, string>>,
  length: number,
): [name: string, value: string][] {
  return pairsOf([...handedHeaders(headers), 'content-length', `${length}`]);
}
