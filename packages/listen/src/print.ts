import type { InboxRequest } from '@ostiary/client-sdk';
import type { LocalAnswer } from './forward.ts';

/** Advice for a local server that sent no response, by the reason. */
const advice: Readonly<Record<string, string>> = {
  connection_refused: 'nothing listens there; start your server',
  timeout: 'no answer within 9 s',
  connection_reset: 'your server closed the connection',
  connection_failed: 'it cannot be reached',
  certificate: 'its certificate is not trusted; see NODE_EXTRA_CA_CERTS',
  tls: 'TLS failed; does it speak https?',
  protocol: 'the answer is no HTTP',
};

/**
 * Returns the value of a webhook header; '' if the request has none. The prefix of the header names differs
 * between services.
 */
function headerOf({ headers }: InboxRequest, ending: string): string {
  return headers.find(({ name }) => name.toLowerCase().endsWith(ending))?.value ?? '';
}

/** Removes characters that could change what a terminal shows. */
const printable = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?');

/** Formats a forwarded request and the local server's response as one line. */
export function requestLine(request: InboxRequest, answer: LocalAnswer, counted: boolean): string {
  const time = new Date(request.receivedAt).toTimeString().slice(0, 8);
  const { durationMs, error, httpStatus } = answer;
  const attempt = headerOf(request, '-attempt');
  const isFirst = attempt === '1' || attempt === '';
  const what = [headerOf(request, '-event'), headerOf(request, '-eventid')].map(printable).join('  ');
  const result =
    error === undefined ? `${httpStatus}  ${durationMs} ms` : `${error}: ${advice[error] ?? ''}`.trim();
  const notes = [
    ...(isFirst ? [] : [`attempt ${printable(attempt)}`]),
    ...(request.signatureError === null ? [] : ['signature check: your server must refuse this one']),
    ...(counted ? [] : ['too late: the attempt was over']),
  ];
  return `${time}  ${what}  ->  ${result}${notes.length === 0 ? '' : `  (${notes.join('; ')})`}`;
}

/** Formats a forwarded request and the local server's response as a line of JSON. */
export function requestJson(request: InboxRequest, answer: LocalAnswer, counted: boolean): string {
  const { httpStatus = null, error = null, response = null, durationMs } = answer;
  const { id, receivedAt, method, headers, body, signatureError } = request;
  const sent = { id, receivedAt, method, headers, body, signatureError };
  return JSON.stringify({ request: sent, answer: { httpStatus, error, response, durationMs }, counted });
}
