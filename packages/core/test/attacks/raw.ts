import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';

/** A connection on which a test can write any bytes, which an HTTP client would not allow. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  #received = '';
  #wake = (): void => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    this.#closed = new Promise((resolve) => {
      // Ignore errors: the server may close an attacker's connection in any way.
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
    });
  }

  static async open(origin: string): Promise<RawConnection> {
    const { hostname, port } = new URL(origin);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection = new RawConnection(socket);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return connection;
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Ends the sending side of the connection, and continues to read. */
  end(): void {
    this.#socket.end();
  }

  /** Resets the TCP connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Returns all data that the server sent, once the server has closed the connection. */
  async all(): Promise<string> {
    await this.#closed;
    return this.#received;
  }

  /** Resolves once the given text has arrived; rejects if the connection ends without it. */
  async until(text: string): Promise<string> {
    while (!this.#received.includes(text)) {
      const news = new Promise<'news'>((resolve) => {
        this.#wake = () => resolve('news');
      });
      const event = await Promise.race([news, this.#closed]);
      if (event === undefined && !this.#received.includes(text))
        throw new Error(`closed after: ${this.#received}`);
    }
    return this.#received;
  }
}

/** A response as it was sent over the connection. */
export type RawAnswer = ReturnType<typeof parseAnswer>;

/** Parses a server's response; chunked bodies stay unchanged. */
export function parseAnswer(text: string) {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end < 0 ? text.length : end).split('\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? Number.NaN),
    /** Header lines of the response as written, in their order. */
    lines,
    body: end < 0 ? '' : text.slice(end + 4),
    /** Returns the values of a response header, by its name in any case. */
    values: (name: string) =>
      lines
        .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
        .map((line) => line.slice(name.length + 1).trim()),
  };
}

/**
 * Sends bytes on a new connection and returns the response. The request should contain `Connection: close`.
 */
export async function sendRaw(origin: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const connection = await RawConnection.open(origin);
  connection.write(bytes);
  return parseAnswer(await connection.all());
}

/** Builds a request without a body by hand. */
export function rawGet(target: string, headers: readonly string[] = []): string {
  const host = headers.some((line) => /^host:/i.test(line)) ? [] : ['Host: somewhere'];
  return [`GET ${target} HTTP/1.1`, ...host, ...headers, 'Connection: close', '', ''].join('\r\n');
}

/** Builds a request with a body by hand, with its length unless the headers state one. */
export function rawPost(target: string, headers: readonly string[], body: string | Uint8Array): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const isTold = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const length = isTold ? [] : [`Content-Length: ${bytes.length}`];
  const lines = [`POST ${target} HTTP/1.1`, 'Host: somewhere', ...headers, ...length, 'Connection: close'];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

/** Reads a list from a file beside this module, with one `name: text` per line. */
export function listed(file: string): [name: string, text: string][] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
}
