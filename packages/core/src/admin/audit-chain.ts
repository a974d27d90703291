import { createHash } from 'node:crypto';
import { actDigest } from '../audit/acts.ts';
import type { AuditStore, ChainedAct } from '../ports/audit.ts';

/**
 * First problem that a verification of the audit log found, such as an entry that was changed after it was
 * written.
 */
export interface AuditProblem {
  /**
   * Position in the audit log's hash chain at which the problem was found; `null` if it does not concern one
   * position.
   */
  readonly number: number | null;
  /** Id of the audit log entry with the problem; `null` if the problem does not concern a single entry. */
  readonly id: string | null;
  /** Description of the problem in plain words. */
  readonly reason: string;
}

/** Result of checking the audit log for later changes. */
export type AuditVerification = {
  /** Number of entries, from the beginning of the audit log's hash chain, that were not changed. */
  readonly acts: number;
  /**
   * Number of entries that were recorded before the audit log had a hash chain, and so cannot be verified.
   */
  readonly before: number;
  /**
   * Last value of the audit log's hash chain that was verified, 64 hexadecimal digits. Keep it outside the
   * database, and pass it to the next verification.
   */
  readonly head: string;
} & ({ readonly ok: true } | { readonly ok: false; readonly problem: AuditProblem });

const pageRows = 500;

const bytesEqual = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

/**
 * Verifies the audit log's hash chain from the first entry to the entry that was the last when the call
 * began.
 */
export async function verifyAudit(store: AuditStore, known: Uint8Array | null): Promise<AuditVerification> {
  const end = await store.head();
  let number = 0;
  let chain: Buffer = Buffer.alloc(32);
  let isKnown = known === null || bytesEqual(known, chain);
  const state = () => ({ acts: number, before: end.before, head: chain.toString('hex') });
  const failed = (
    reason: string,
    act: Pick<ChainedAct, 'number' | 'id'> | null = null,
  ): AuditVerification => ({
    ...state(),
    ok: false,
    problem: { number: act?.number ?? null, id: act?.id ?? null, reason },
  });

  while (number < end.number) {
    const page = await store.chain({ after: number, limit: Math.min(pageRows, end.number - number) });
    for (const act of page) {
      if (act.number !== number + 1) return failed(missing(number + 1, act.number - 1), act);
      const next = createHash('sha256').update(chain).update(actDigest(act)).digest();
      if (!bytesEqual(act.chain, next)) return failed('this act, or its place, is not what was written', act);
      [number, chain] = [act.number, next];
      isKnown ||= known !== null && bytesEqual(known, chain);
    }
    if (page.length === 0) return failed(missing(number + 1, end.number));
  }
  if (!bytesEqual(end.chain, chain))
    return failed('the end of the chain is not the one that was noted in the database');
  const [beyond] = await store.chain({ after: number, limit: 1 });
  if (beyond !== undefined && (await store.head()).number < beyond.number)
    return failed('this act comes after the end of the chain', beyond);
  if (end.outside !== end.before) {
    return failed(
      `${end.outside} acts have no place in the chain, and ${end.before} were there before it began`,
    );
  }
  if (!isKnown)
    return failed(
      'the head that was given is not in the chain: what came after it was cut off, or rewritten',
    );
  return { ...state(), ok: true };
}

function missing(first: number, last: number): string {
  return first === last ? `number ${first} is missing` : `numbers ${first} to ${last} are missing`;
}
