import { createHash } from 'node:crypto';
import type { Database } from '../database/database.ts';
import type { Passwords } from '../users/passwords.ts';
import { type StaffMember, type StaffRow, type StaffRows, toMember } from './members.ts';
import { recoveryDigest, stepOf } from './one-time-codes.ts';
import type { Sealer } from './sealed.ts';

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Makes the functions that check passwords, codes and passkeys of staff. */
export function createVerification(
  database: Database,
  rows: StaffRows,
  passwords: Passwords,
  sealer: Sealer,
  now: () => number,
) {
  /**
   * Checks the second factor after a right password: a code of the authenticator app or a recovery code, each
   * accepted only once.
   */
  async function isRightCode(
    { id, totp }: StaffRow & { readonly totp: string },
    code: string,
  ): Promise<boolean> {
    const secret = sealer.open(totp, id);
    const step = secret && stepOf(secret, code.replaceAll(/\s/g, ''), now());
    return database.write(async (transaction) => {
      if (secret !== null && step !== null) {
        const sql = `UPDATE app_staff SET totp_step = :step
          WHERE id = :id AND totp_step < :step AND totp = :totp`;
        return (await transaction.run(sql, { id, step, totp })) === 1;
      }
      const sql = 'DELETE FROM app_staff_codes WHERE digest = :digest AND staff_id = :id';
      return (await transaction.run(sql, { id, digest: recoveryDigest(code) })) === 1;
    });
  }

  return {
    /** Lists the passkeys of a staff member, oldest first. */
    passkeys: (id: string) =>
      database.all<{ id: string; createdAt: number; usedAt: number | null }>(
        `SELECT id, created_at AS "createdAt", used_at AS "usedAt" FROM app_staff_passkeys
         WHERE staff_id = :id ORDER BY created_at, id`,
        { id },
      ),

    /** Finds a passkey and its owner. Returns nothing if the owner is disabled. */
    async findPasskey(id: string) {
      const row = await database.get<{ staffId: string; publicKey: Buffer; counter: number }>(
        `SELECT staff_id AS "staffId", public_key AS "publicKey", counter FROM app_staff_passkeys AS p
           JOIN app_staff AS s ON s.id = p.staff_id WHERE p.id = :id AND disabled_at IS NULL`,
        { id },
      );
      if (row === undefined) return null;
      const { staffId, publicKey, counter } = row;
      return { staffId, id, publicKey: new Uint8Array(publicKey), counter };
    },

    /**
     * Records the use of a passkey. Each challenge is accepted once.
     * @returns `replayed` for a challenge that was answered before, `cloned` for a counter that did not grow
     */
    usePasskey: (
      id: string,
      counter: number,
      challenge: { readonly value: string; readonly endsAt: number },
    ): Promise<'used' | 'replayed' | 'cloned'> =>
      database.write(async (transaction) => {
        await transaction.run('DELETE FROM app_staff_challenges WHERE ends_at <= :now', { now: now() });
        const added = await transaction.run(
          `INSERT INTO app_staff_challenges (digest, ends_at) VALUES (:digest, :endsAt)
           ON CONFLICT (digest) DO NOTHING`,
          { digest: digestOf(challenge.value), endsAt: challenge.endsAt },
        );
        if (added !== 1) return 'replayed';
        const changed = await transaction.run(
          `UPDATE app_staff_passkeys SET counter = :counter, used_at = :now
           WHERE id = :id AND (counter < :counter OR (counter = 0 AND :counter = 0))`,
          { id, counter, now: now() },
        );
        return changed === 1 ? 'used' : 'cloned';
      }),

    /**
     * Returns the staff member with this address, password and code, or `null`. An unknown or disabled person
     * takes as long as a wrong password.
     * @param isCodeOptional - true to let a person without one-time codes in with the password alone
     */
    async verify(
      email: string,
      password: string,
      code: string,
      isCodeOptional: boolean,
    ): Promise<StaffMember | null> {
      const row = await rows.find(database, email);
      const isRight = await passwords.verify(password, row?.passwordHash ?? null);
      // Read again: the person may have been disabled or reset while the hash was computed.
      const current = isRight && row !== undefined ? await rows.find(database, email) : undefined;
      if (current === undefined || current.disabledAt !== null) return null;
      if (current.passwordHash !== row?.passwordHash) return null;
      const { totp } = current;
      if (totp === null) return isCodeOptional ? toMember(current) : null;
      return (await isRightCode({ ...current, totp }, code)) ? toMember(current) : null;
    },
  };
}
