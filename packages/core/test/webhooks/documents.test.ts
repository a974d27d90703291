import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createDocumentReader, type DocumentReaderOptions } from '../../src/webhooks/documents.ts';
import { certificate, privateKey } from './support/target-certificate.ts';
import { type RawAnswer, response, serve } from './support/target-server.ts';

const settings = { maxBytes: 5 * 1024, timeoutMs: 10_000 };
const json = 'content-type: application/json\r\n';

/** Creates a document reader that may connect to this machine. */
const readerHere = (changes: Partial<DocumentReaderOptions> = {}) =>
  createDocumentReader({ policy: { allowPrivate: true }, ...settings, ...changes });

/** Creates a document reader for public addresses, for which host names resolve to the given addresses. */
const readerOutside = (addresses: readonly string[] = []) =>
  createDocumentReader({ policy: { allowPrivate: false }, ...settings, resolve: async () => addresses });

/** Reads a document from a server that serves it in one way. */
async function readFrom(answer: RawAnswer, changes: Partial<DocumentReaderOptions> = {}) {
  const server = await serve(answer);
  return readerHere(changes)(`http://127.0.0.1:${server.port}/client.json`);
}

const refusedHost = { problem: 'The host must resolve, and to public addresses only.' };

describe('a reader of documents', () => {
  it('asks for uncompressed JSON, and closes the connection', async () => {
    const server = await serve((socket) => socket.write(response(200, '{"ü":1}', json)));
    const result = await readerHere()(`http://127.0.0.1:${server.port}/a?b=c`);
    expect(result).toEqual({ text: '{"ü":1}', headers: expect.objectContaining({ 'content-length': '8' }) });
    expect(server.requests.map(({ head }) => head.split('\r\n'))).toEqual([
      [
        'GET /a?b=c HTTP/1.1',
        `host: 127.0.0.1:${server.port}`,
        'connection: keep-alive',
        'user-agent: Ostiary-Documents/1',
        'accept: application/json',
        'accept-encoding: identity',
      ],
    ]);
    await expect.poll(() => server.sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('asks for every media type that it accepts', async () => {
    const types = ['application/json', 'application/jwk-set+json'];
    const server = await serve((socket) =>
      socket.write(response(200, '{}', 'content-type: application/jwk-set+json\r\n')),
    );
    const result = await readerHere({ mediaTypes: types })(`http://127.0.0.1:${server.port}/keys`);
    expect(result).toMatchObject({ text: '{}' });
    expect(server.requests[0]?.head).toContain('\r\naccept: application/json, application/jwk-set+json\r\n');
  });

  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/json ;charset=utf-8'])(
    'takes the media type %s',
    async (type) => {
      const result = await readFrom((socket) =>
        socket.write(response(200, '{}', `content-type: ${type}\r\n`)),
      );
      expect(result).toMatchObject({ text: '{}' });
    },
  );

  it.each<[problem: string, answer: RawAnswer]>([
    ...[301, 302, 303, 307, 308].map((status): [string, RawAnswer] => [
      'the server redirects, which is not followed',
      (socket) => socket.write(response(status, '', `location: https://other.example/\r\n${json}`)),
    ]),
    ...[201, 204, 400, 404, 500].map((status): [string, RawAnswer] => [
      `the server answered with status ${status}`,
      (socket) => socket.write(response(status, '', json)),
    ]),
    ...['text/html', 'text/plain', 'application/jsonp', 'application/problem+json', ''].map(
      (type): [string, RawAnswer] => [
        'its Content-Type is not application/json',
        (socket) => socket.write(response(200, '{}', `content-type: ${type}\r\n`)),
      ],
    ),
    ['its Content-Type is not application/json', (socket) => socket.write(response(200, '{}'))],
    [
      'it is compressed',
      (socket) => {
        const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
        socket.write(
          `HTTP/1.1 200 OK\r\n${json}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`,
        );
        socket.write(bomb);
      },
    ],
    ['it is larger than 5120 bytes', (socket) => socket.write(response(200, `"${'a'.repeat(5119)}"`, json))],
    [
      'it is larger than 5120 bytes',
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${json}transfer-encoding: chunked\r\n\r\n`);
        const chunk = `1000\r\n${' '.repeat(4096)}\r\n`;
        const pour = () => {
          while (!socket.destroyed && socket.write(chunk));
          if (!socket.destroyed) socket.once('drain', pour);
        };
        pour();
      },
    ],
    [
      'it is not UTF-8',
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${json}content-length: 3\r\n\r\n`);
        socket.write(Buffer.from([0x22, 0xff, 0x22]));
      },
    ],
    ['it could not be read (protocol)', (socket) => socket.write('SSH-2.0-OpenSSH_9.9\r\n')],
    ['it could not be read (connection_reset)', (socket) => socket.destroy()],
    [
      'it could not be read (connection_reset)',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\n${json}content-length: 9\r\n\r\n{}`),
    ],
  ])('refuses: %s', async (problem, answer) => {
    expect(await readFrom(answer)).toEqual({ problem });
  });

  it('takes a document of the largest size', async () => {
    const text = `"${'a'.repeat(5118)}"`;
    expect(await readFrom((socket) => socket.write(response(200, text, json)))).toMatchObject({ text });
  });

  it.each<[what: string, answer: RawAnswer]>([
    ['never answers', () => undefined],
    ['begins to answer', (socket) => socket.write('HTTP/1.1 200 OK\r\n')],
    [
      'sends one byte after the other',
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${json}content-length: 5000\r\n\r\n`);
        const timer = setInterval(() => socket.write(' '), 10);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('gives up a server that %s', async (_what, answer) => {
    expect(await readFrom(answer, { timeoutMs: 200 })).toEqual({ problem: 'it took too long' });
  });

  it('gives up a name server that never answers', async () => {
    const resolve = () => new Promise<never>(() => undefined);
    const read = createDocumentReader({
      policy: { allowPrivate: false },
      ...settings,
      timeoutMs: 50,
      resolve,
    });
    expect(await read('https://app.example/a')).toEqual({ problem: 'it took too long' });
  });

  it('checks the certificate', async () => {
    const answer: RawAnswer = (socket) => socket.write(response(200, '{}', json));
    const { port } = await serve(answer, { tls: { key: privateKey, cert: certificate } });
    const url = `https://127.0.0.1:${port}/a`;
    expect(await readerHere()(url)).toEqual({ problem: 'it could not be read (certificate)' });
    expect(await readerHere({ connect: { ca: certificate } })(url)).toMatchObject({ text: '{}' });
    const other = readerHere({ connect: { ca: certificate }, resolve: async () => ['127.0.0.1'] });
    const problem = 'it could not be read (certificate)';
    expect(await other(`https://other.example:${port}/a`)).toEqual({ problem });
  });
});

describe('a document anywhere but at a public address', () => {
  it.each([
    ...['127.0.0.1', '10.0.0.1', '192.168.1.1', '172.16.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...['224.0.0.1', '255.255.255.255', '[::1]', '[::]', '[fc00::1]', '[fe80::1]', '[::ffff:127.0.0.1]'],
    ...['[::ffff:a00:1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::a00:1]', '[2002:7f00:1::]', '[::127.0.0.1]'],
    ...['localhost', 'app.localhost', 'app.example.', '2130706433', '0x7f000001', '017700000001', '127.1'],
  ])('is not read from %s', async (host) => {
    expect(await readerOutside(['1.1.1.1'])(`https://${host}/client.json`)).toEqual(refusedHost);
  });

  it.each([
    [['10.0.0.1']],
    [['1.1.1.1', '127.0.0.1']],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::a00:1']],
    [['fe80::1%eth0']],
    [['not an address']],
    [[]],
  ])('is not read from a name that resolves to %j', async (addresses) => {
    expect(await readerOutside(addresses)('https://app.example/client.json')).toEqual(refusedHost);
  });

  it('is asked for once: the address that was checked is the one that is dialled', async () => {
    const server = await serve((socket) => socket.write(response(200, '{}', json)));
    const answers = [['192.0.2.1'], ['127.0.0.1']];
    const asked: string[] = [];
    const resolve = async (name: string) => {
      asked.push(name);
      return answers[Math.min(asked.length - 1, 1)] ?? [];
    };
    const read = createDocumentReader({ policy: { allowPrivate: false }, ...settings, resolve });
    expect(await read(`https://app.example:${server.port}/a`)).toEqual(refusedHost);
    expect([asked, server.sockets.length]).toEqual([['app.example'], 0]);
  });

  it.each([
    ['http://app.example/a', 'The URL must begin with https:// and a host.'],
    ['https://a:b@app.example/a', 'The URL must not contain credentials.'],
    ['https://app.example/a#b', 'The URL must not contain a fragment.'],
    ['https://app.example:22/a', 'The port must be 443, or 1024 and above.'],
    ['https://app.example:25/a', 'The port must be 443, or 1024 and above.'],
  ])('is refused as %s', async (url, problem) => {
    expect(await readerOutside(['1.1.1.1'])(url)).toEqual({ problem });
  });
});
