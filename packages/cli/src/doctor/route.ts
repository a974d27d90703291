import type { IncomingMessage, ServerResponse } from 'node:http';
import { keyThatProves, proofOf } from './key-proofs.ts';

/** Largest difference between two clocks for which a question is answered. */
const answeredWithinMs = 24 * 3_600_000;

/** An address that belongs to no host: it is reserved for documentation (RFC 5737). */
export const stranger = '192.0.2.123';

/** Response of a process to `ostiary doctor`, as JSON: how it saw the request. */
export interface ProbeAnswer {
  /** The process that answers. */
  readonly node: string;
  /** The clock that it goes by. */
  readonly now: number;
  /** Client address that the process determined for the doctor. */
  readonly address: string | null;
  /** True if that address is itself a trusted proxy. */
  readonly isTrusted: boolean;
  /** True if the peer of the connection is a trusted proxy. */
  readonly peerIsTrusted: boolean;
  /** True if the request had the header `X-Forwarded-For`. */
  readonly isForwarded: boolean;
}

/** Dependencies of the route. */
export interface DoctorRouteOptions {
  /** Base64url, as `createOstiary` takes them. */
  readonly sealingKeys: readonly string[];
  /** `ostiary.clientAddress` */
  readonly addressOf: (request: {
    readonly socket: { readonly remoteAddress?: string | undefined };
    readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  }) => string | null;
  /** A name of this process. */
  readonly node: string;
  readonly now: () => number;
}

/**
 * Answers who proves to have a sealing key, and proves it in return; for everybody else there is nothing here. The doctor
 * learns by it that this installation, and no other, answers at an address, and whom it takes a caller for. Mount it at
 * `/doctor` of `authUrl` and `baseUrl`.
 *
 * @returns a handler that says whether it has answered
 */
export function createDoctorRoute({
  sealingKeys,
  addressOf,
  node,
  now,
}: DoctorRouteOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  /** A peer that is believed about the client address is a trusted proxy. */
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
