import { createHash } from 'node:crypto';
import type { AuditRecord, StoredAct } from '../ports/audit.ts';
import type { Clock } from '../ports/clock.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { Random } from '../secrets/random.ts';

/**
 * Returns a JSON value with the members of every object in alphabetical order, because databases and drivers
 * may reorder them.
 */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, canonical(member)]));
}

/** Computes the SHA-256 digest over all stored fields of an audit act. */
export function actDigest({ id, at, actor, role, action, target, details }: StoredAct): Buffer {
  // Drop undefined members: the database returns JSON, which has none, and the digest must be the same then.
  const kept: unknown = JSON.parse(JSON.stringify(details));
  const text = JSON.stringify(['ostiary act 1', id, at, actor, role, action, target, canonical(kept)]);
  return createHash('sha256').update(text).digest();
}

/**
 * Creates the audit record of an administrative act. The record is passed to the storage call that makes the
 * change, so both commit together.
 */
export type Act = (action: string, target: string, details?: JsonObject) => AuditRecord;

/** Returns a function that creates audit records for acts of one person or program. */
export function actsOf(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  actor: string,
  role: string | null = null,
): Act {
  return (action, target, details = {}) => {
    const id = `aud_${random.bytes(12).toString('hex')}`;
    const given = { id, at: clock.now(), actor, role, action, target, details };
    return { ...given, digest: actDigest(given) };
  };
}

/**
 * Adds the values that an act replaces to its details, in the member `before`, under the same names.
 * @param stored - the object as it was before the act
 */
export function withBefore(details: JsonObject, stored: object): JsonObject {
  const before = Object.keys(details).map((name) => [name, Reflect.get(stored, name) ?? null]);
  return { ...details, before: Object.fromEntries(before) };
}
