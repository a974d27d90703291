import type { Context } from 'koa';
import { keyThatProves, proofOf } from '../operations/key-proofs.ts';
import { clientAddress, trustedBy } from './client-address.ts';

/** How far clocks may be apart for a question to be answered. */
const answeredWithinMs = 24 * 3_600_000;

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
  readonly sealingKeys: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly node: string;
  readonly now: () => number;
}

/**
 * Answers who proves to have a sealing key, and proves it in return; for everybody else there is nothing here. The doctor
 * learns by it that this installation, and no other, answers at an address, and whom it takes a caller for.
 */
export function createDoctorRoute({ sealingKeys, trustedProxies, node, now }: DoctorRouteOptions) {
  const addressOf = clientAddress(trustedProxies);
  const isTrusted = trustedBy(trustedProxies);

  /** Whether it was answered. */
  return (ctx: Context): boolean => {
    const [, asked = '', proof = ''] =
      /^Doctor (\d{13}-[0-9a-f]{24})\.([0-9a-f]{64})$/.exec(ctx.get('authorization')) ?? [];
    const key = keyThatProves(sealingKeys, `ask ${asked}`, proof);
    if (key === undefined || Math.abs(Date.now() - Number(asked.slice(0, 13))) > answeredWithinMs)
      return false;
    const address = addressOf(ctx.req);
    const answer: ProbeAnswer = {
      node,
      now: now(),
      address,
      isTrusted: address !== null && isTrusted(address),
      peerIsTrusted: isTrusted(ctx.req.socket.remoteAddress ?? ''),
      isForwarded: ctx.req.headers['x-forwarded-for'] !== undefined,
    };
    const body = JSON.stringify(answer);
    ctx.set('X-Doctor-Proof', proofOf(key, `answer ${asked} ${body}`));
    ctx.type = 'json';
    ctx.body = body;
    return true;
  };
}

/** See {@link createDoctorRoute}. */
export type DoctorRoute = ReturnType<typeof createDoctorRoute>;
