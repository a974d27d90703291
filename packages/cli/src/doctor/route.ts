import type { IncomingMessage, ServerResponse } from 'node:http';
import { keyThatProves, proofOf } from './key-proofs.ts';

/** How far clocks may be apart for a question to be answered. */
const answeredWithinMs = 24 * 3_600_000;

/** Belongs to nobody: an address of documentation (RFC 5737). */
export const stranger = '192.0.2.123';

/** What a process tells `ostiary doctor` about a request of its own, as JSON. */
export interface ProbeAnswer {
  /** The process that answers. */
  readonly node: string;
  /** The clock that it goes by. */
  readonly now: number;
  /** Who it takes the doctor for. */
  readonly address: string | null;
  /** Whether that is a trusted proxy itself. */
  readonly isTrusted: boolean;
  /** Whether whoever holds the other end of the connection is a trusted proxy. */
  readonly peerIsTrusted: boolean;
  /** Whether the request came with `X-Forwarded-For`. */
  readonly isForwarded: boolean;
}

/** What the route needs. */
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
  /** Whoever is believed about a caller is a trusted proxy. */
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
