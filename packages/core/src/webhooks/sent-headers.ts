/**
 * Headers that every webhook request has. They ask for an uncompressed response, because the client does not
 * decompress.
 */
const fixedHeaders = ['user-agent', 'Ostiary-Webhooks/1', 'accept', '*/*', 'accept-encoding', 'identity'];

/**
 * Returns the headers of a webhook request for the HTTP client as alternating names and values, the fixed
 * headers first.
 */
export function handedHeaders(headers: Readonly<Record<string, string>>): string[] {
  const handed = [...fixedHeaders];
  for (const name of Object.keys(headers)) handed.push(name, headers[name] ?? '');
  return handed;
}

/** Converts a list of alternating header names and values to pairs. */
function pairsOf(lines: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: lines.length / 2 }, (_, index) => [
    lines[2 * index] ?? '',
    lines[2 * index + 1] ?? '',
  ]);
}

/**
 * Returns all headers of a webhook request in the order in which they are sent: HTTP adds headers for target
 * and length around the others.
 */
export function sentHeaders(
  { host }: URL,
  headers: Readonly<Record<string, string>>,
  length: number,
): [name: string, value: string][] {
  const handed = handedHeaders(headers);
  return pairsOf(['host', host, 'connection', 'keep-alive', ...handed, 'content-length', `${length}`]);
}

/** Returns all headers of a webhook request to an inbox, which has neither a host name nor a connection. */
export function inboxHeaders(
  headers: Readonly<Record<string, string>>,
  length: number,
): [name: string, value: string][] {
  return pairsOf([...handedHeaders(headers), 'content-length', `${length}`]);
}
