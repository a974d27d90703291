import type { IncomingMessage, ServerResponse } from 'node:http';
import { keyThatProves, proofOf } from './key-proofs.ts';

/** Largest clock difference at which a server still responds to a request of the doctor, in milliseconds. */
const answeredWithinMs = 24 * 3_600_000;

/** An IP address that belongs to no host: it is reserved for documentation (RFC 5737). */
export const stranger = '192.0.2.123';

/** Response of a process to `ostiary doctor`, as JSON: how it saw the request. */
export interface ProbeAnswer {
  /** Name of the responding process. */
  readonly node: string;
  /** Current time of the process, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Client address that the process determined for the doctor. */
  readonly address: string | null;
  /** True if the client address that the process determined is itself a trusted proxy. */
  readonly isTrusted: boolean;
  /** True if the connection came from a trusted proxy. */
  readonly peerIsTrusted: boolean;
  /** True if the request had the header `X-Forwarded-For`. */
  readonly isForwarded: boolean;
}

/** Settings and functions that the doctor's route needs. */
export interface DoctorRouteOptions {
  /** Sealing keys, Base64url, as `createOstiary` takes them. */
  readonly sealingKeys: readonly string[];
  /** Determines the client IP address of a request: `ostiary.clientAddress`. */
  readonly addressOf: (request: {
    readonly socket: { readonly remoteAddress?: string | undefined };
    readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  }) => string | null;
  /** Name of this process. */
  readonly node: string;
  readonly now: () => number;
}

/**
 * Makes the route that the doctor calls. The doctor proves that it has a sealing key; the response proves the
 * same for the server and contains the client IP address that it saw. This shows whether this installation
 * responds at a URL. Requests without a valid proof are not handled, as if the route did not exist. Mount the
 * route at `/doctor` of `authUrl` and `baseUrl`.
 *
 * @returns a handler that returns true if it has responded to the request
 */
export function createDoctorRoute({
  sealingKeys,
  addressOf,
  node,
  now,
}: DoctorRouteOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  /** Checks whether the other end of a connection is a trusted proxy, whose `X-Forwarded-For` is believed. */
  const isTrusted = (remoteAddress: string): boolean =>
    addressOf({ socket: { remoteAddress }, headers: { 'x-forwarded-for': stranger } }) === stranger;

  return (request, response) => {
    const [, asked = '', proof = ''] =
      /^Doctor (\d{13}-[0-9a-f]{24})\.([0-9a-f]{64})$/.exec(request.headers.authorization ?? '') ?? [];
    const key = keyThatProves(sealingKeys, `ask ${asked}`, proof);
    if (key === undefined || Math.abs(Date.now() - Number(asked.slice(0, 13))) > answeredWithinMs)
      return false;
    const address = addressOf(request);
    const answer: ProbeAnswer = {
      node,
      now: now(),
      address,
      isTrusted: address !== null && isTrusted(address),
      peerIsTrusted: isTrusted(request.socket.remoteAddress ?? ''),
      isForwarded: request.headers['x-forwarded-for'] !== undefined,
    };
    const body = JSON.stringify(answer);
    response
      .writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Doctor-Proof': proofOf(key, `answer ${asked} ${body}`),
      })
      .end(body);
    return true;
  };
}
