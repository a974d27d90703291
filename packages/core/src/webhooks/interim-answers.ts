import type { Socket } from 'node:net';

/**
 * Matches the beginning of an interim response (status 1xx). Status 101 does not count, because it ends HTTP
 * on the connection.
 */
const interim = /^HTTP\/1\.1 1(?!01)\d\d/;
const interimLength = 'HTTP/1.1 100'.length;
/**
 * Maximum length of the headers of one interim response, in bytes. A longer one is passed on like any other
 * response.
 */
const maxLength = 16_384;

/**
 * Removes interim responses (1xx) from the bytes of a socket. A client must ignore them even if it did not
 * request any (RFC 9110, section 15.2), but undici ends the connection on `100 Continue`.
 */
export class InterimAnswers {
  #isAnswerAwaited = true;
  /** Bytes that may belong to an interim response which has not arrived completely. */
  #pending: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    const read: () => Buffer | null = socket.read.bind(socket);
    socket.read = () => {
      for (;;) {
        const chunk = read();
        if (chunk === null || !this.#isAnswerAwaited) return chunk;
        const isFirst = this.#pending.length === 0;
        const rest = this.#afterInterim(isFirst ? chunk : Buffer.concat([this.#pending, chunk]));
        if (rest !== null) return rest;
      }
    };
  }

  /** Starts to remove interim responses again, before the response to the next request. */
  awaitAnswer(): void {
    this.#isAnswerAwaited = true;
  }

  /**
   * Returns the bytes after all interim responses. If further interim responses may follow, keeps the bytes
   * and returns `null`.
   */
  #afterInterim(bytes: Buffer): Buffer | null {
    let rest = bytes;
    for (;;) {
      const start = rest.toString('latin1', 0, interimLength);
      const isInterim = interim.test(start);
      const isTooShort = start.length < interimLength && 'HTTP/1.1 1'.startsWith(start.slice(0, 10));
      const end = isInterim ? rest.indexOf('\r\n\r\n') : -1;
      if (end === -1) {
        const isPending = isTooShort || (isInterim && rest.length <= maxLength);
        this.#pending = isPending ? rest : Buffer.alloc(0);
        this.#isAnswerAwaited = isPending;
        return isPending ? null : rest;
      }
      rest = rest.subarray(end + 4);
    }
  }
}
