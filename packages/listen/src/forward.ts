import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AnswerRequest, InboxRequest } from '@ostiary/client-sdk';

/** Response of the local server, or the reason why there is none. */
export interface LocalAnswer {
  readonly httpStatus?: number;
  /** Beginning of the local server's response. */
  readonly response?: string;
  readonly error?: NonNullable<AnswerRequest['error']>;
  readonly durationMs: number;
}

/**
 * Time limit for the local server's response, in milliseconds. The whole delivery attempt has ten seconds.
 */
const deadlineMs = 9_000;

/**
 * Time for which the rest of a response may still be read after its status is known, in milliseconds: as long as
 * for every other endpoint.
 */
const bodyMs = 2_000;

/** Checks whether a status ends a response; the service accepts no other one (RFC 9110, section 15). */
const isFinal = (status: number): boolean => status >= 200 && status <= 599;

/** Number of bytes of the local server's response that are sent to the service. Test mode stores no more. */
const reportedBytes = 1_024;

/** Names of headers that belong to one connection, and not to the request. */
const ofConnection = new Set(['host', 'connection', 'transfer-encoding', 'keep-alive']);

const errors: Readonly<Record<string, NonNullable<AnswerRequest['error']>>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ETIMEDOUT: 'timeout',
  EPROTO: 'tls',
  ABORT_ERR: 'timeout',
};

function errorOf(error: NodeJS.ErrnoException): NonNullable<AnswerRequest['error']> {
  const code = error.code ?? '';
  if (code.startsWith('HPE_')) return 'protocol';
  if (/CERT|SELF_SIGNED|ERR_TLS/.test(code)) return 'certificate';
  return errors[code] ?? 'connection_failed';
}

/** Decodes the beginning of a response. Replaces U+0000, which the service cannot store, by U+FFFD. */
const textOf = (bytes: Buffer): string =>
  new TextDecoder().decode(bytes.subarray(0, reportedBytes)).replaceAll('\u0000', '\ufffd');

/**
 * Sends a webhook request to the local server, with the bytes of its body and its headers as they arrived,
 * except those in {@link ofConnection}. Never rejects.
 */
export async function forward({ headers, body }: InboxRequest, to: URL): Promise<LocalAnswer> {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  const kept = headers.filter(({ name }) => !ofConnection.has(name.toLowerCase()));
  const lines = ['Host', to.host, 'Connection', 'close', ...kept.flatMap(({ name, value }) => [name, value])];
  const request = to.protocol === 'https:' ? requestHttps : requestHttp;
  return await new Promise<LocalAnswer>((resolve, reject) => {
    /** Reports the response; `null` before its status is known. */
    let settle: (() => void) | null = null;
    // Throws for headers that Node refuses to send, such as values with control characters.
    const sent = request(
      to,
      { method: 'POST', headers: lines, agent: false, signal: AbortSignal.timeout(deadlineMs) },
      (response) => {
        const durationMs = elapsed();
        const httpStatus = response.statusCode ?? 500;
        let bytes = Buffer.alloc(0);
        // The status decides the result of the attempt, even if the body breaks off or does not end. The part of
        // the body that arrived is reported.
        settle = () => {
          clearTimeout(timer);
          resolve(
            isFinal(httpStatus)
              ? { httpStatus, response: textOf(bytes), durationMs }
              : { error: 'protocol', durationMs },
          );
          sent.destroy();
        };
        const timer = setTimeout(settle, bodyMs);
        response.on('data', (part: Buffer) => {
          if (bytes.length < reportedBytes) bytes = Buffer.concat([bytes, part]);
        });
        response.on('error', () => undefined);
        response.on('close', settle);
      },
    );
    sent.on('error', (error) => (settle === null ? reject(error) : settle()));
    // Without this listener, Node would close the connection and call none of the others.
    sent.on('upgrade', () => {
      resolve({ error: 'protocol', durationMs: elapsed() });
      sent.destroy();
    });
    sent.end(Buffer.from(body));
  }).catch((error: NodeJS.ErrnoException) => ({ error: errorOf(error), durationMs: elapsed() }));
}
