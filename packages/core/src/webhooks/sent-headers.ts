/** Headers of every request about its sender. A response in another encoding would need decompression. */
const fixedHeaders = ['user-agent', 'Ostiary-Webhooks/1', 'accept', '*/*', 'accept-encoding', 'identity'];

/** Headers for the HTTP client: names and values in turn, our own first. */
export function handedHeaders(headers: Readonly<Record<string, string>>): string[] {
  const handed = [...fixedHeaders];
  for (const name of Object.keys(headers)) handed.push(name, headers[name] ?? '');
  return handed;
}

/** Every header of a request in the order of the wire: HTTP puts those that say where it goes and how long it is around the others. */
export function sentHeaders(
  { host }: URL,
  headers: Readonly<Record<string, string>>,
  length: number,
): [name: string, value: string][] {
  const handed = handedHeaders(headers);
  const lines = ['host', host, 'connection', 'keep-alive', ...handed, 'content-length', `${length}`];
  return Array.from({ length: lines.length / 2 }, (_, index) => [
    lines[2 * index] ?? '',
    lines[2 * index + 1] ?? '',
  ]);
}
