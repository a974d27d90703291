import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { operatorsKit } from './console-kit.ts';

/** Sends a raw HTTP request, and returns the response without the parts that always differ. */
async function raw(origin: string, request: string): Promise<string> {
  const { host, hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.end(`${request} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks)
    .toString()
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/^Date: .*$/m, 'DATE');
}

describe('strangers', () => {
  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])(
    'learn nothing by %s: what there is and what there is not are answered alike',
    async (method) => {
      const kit = await operatorsKit();
      const { partner } = await kit.key();
      const { origin } = kit.provider;
      const answers = new Map<string, string[]>();
      for (const path of [
        '/operators',
        '/operators/',
        '/operators/partners',
        '/operators/partners/',
        `/operators/partners/${partner}`,
        '/operators/partners/nobody',
        '/operators/partners/%00',
        '/operators/partners/%2e%2e',
        '/operators/partners/a%2fb/keys',
        '/operators/clients/x',
        '/operators/audit?after=x',
        '/operators/nothing',
        '/operators/nothing/at/all',
        '/operators//partners',
        '/operators/./x/../partners',
        '/operators/%70artners',
        '/operators/upkeep;x',
        '/operators/audit%3f',
        '/operators/%ff',
        '/operators/partners/%ff',
        '/operators/partners/%',
        '/operators?x',
        '/operators#x',
        '/OPERATORS',
        '/Operators/Partners',
        '//operators',
        '//operators/partners',
        '/%6fperators',
        '/operators%2fpartners',
        '/operator',
        '/operatorsx',
      ]) {
        const answer = await raw(origin, `${method} ${path}`);
        answers.set(answer, [...(answers.get(answer) ?? []), path]);
      }
      // Paths outside of `/operators` behave like any unknown path.
      const outside = (path: string) => !/^\/operators(?:$|[/?])/.test(path);
      expect([...answers.values()].map((paths) => new Set(paths.map(outside)).size)).toEqual([1, 1]);
    },
  );
});
