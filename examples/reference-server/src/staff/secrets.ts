import { type SealedCount, sealIdOf } from '@ostiary/cli/doctor';
import type { HostSecrets } from '@ostiary/core';
import type { Database, Queries } from '../database/database.ts';
import { keysOf } from '../derived-keys.ts';
import { createSealer, type Sealer, staffCodes } from './sealed.ts';

/** Lists the encrypted secrets of authenticator apps, also of disabled people, who may be enabled again. */
const listSealed = (queries: Queries): Promise<{ readonly id: string; readonly totp: string }[]> =>
  queries.all('SELECT id, totp FROM app_staff WHERE totp IS NOT NULL ORDER BY id');

/** Counts the secrets of authenticator apps by the sealing key that encrypts them, for the doctor. */
export async function countStaffSecrets(
  database: Database,
  sealingKeys: readonly string[],
): Promise<readonly SealedCount[]> {
  const sealers = sealingKeys.map((key) => ({
    seal: sealIdOf(key),
    sealer: createSealer(keysOf({ sealingKeys: [key] })(staffCodes)),
  }));
  const counts = new Map<string, number>();
  for (const { id, totp } of await listSealed(database)) {
    const seal = sealers.find(({ sealer }) => sealer.isCurrent(totp, id))?.seal ?? 'unknown';
    counts.set(seal, (counts.get(seal) ?? 0) + 1);
  }
  return Array.from(counts, ([seal, count]) => ({ seal, count }));
}

/** Makes the functions that encrypt the secrets of authenticator apps again after a change of the sealing keys. */
export function createStaffSecrets(database: Database, sealer: Sealer): HostSecrets {
  const listOutdated = async (queries: Queries) =>
    (await listSealed(queries)).filter(({ id, totp }) => !sealer.isCurrent(totp, id));

  return {
    countSealedOtherwise: async () => (await listOutdated(database)).length,
    reseal: async () => {
      const outdated = await listOutdated(database);
      const opened = outdated.flatMap(({ id, totp }) => {
        const secret = sealer.open(totp, id);
        return secret === null ? [] : [{ id, totp, sealed: sealer.seal(secret, id) }];
      });
      const unopened = outdated.length - opened.length;
      if (opened.length === 0) return { sealed: 0, unopened };
      const sealed = await database.write(async (transaction) => {
        // Leaves secrets alone that were replaced in the meantime.
        const sql = 'UPDATE app_staff SET totp = :sealed WHERE id = :id AND totp = :totp';
        let changed = 0;
        for (const row of opened) changed += await transaction.run(sql, row);
        return changed;
      });
      return { sealed, unopened };
    },
  };
}
