import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';
import type { Passwords } from '../users/passwords.ts';
import { StaffError, type StaffLink, type StaffRows, type StoredPasskey } from './members.ts';
import { newRecoveryCodes, recoveryDigest, stepOf } from './one-time-codes.ts';
import type { Sealer } from './sealed.ts';

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

const useLink = 'DELETE FROM app_staff_links WHERE staff_id = :id AND digest = :digest AND ends_at > :now';

/** Makes the functions with which an invited person sets up a sign-in. */
export function createJoining(
  database: Database,
  rows: StaffRows,
  passwords: Passwords,
  sealer: Sealer,
  now: () => number,
) {
  /** Uses up an invitation link. @throws StaffError if the link was used, replaced, or has expired */
  async function use(transaction: Transaction, { member, token }: StaffLink): Promise<void> {
    const values = { id: member.id, digest: digestOf(token), now: now() };
    if ((await transaction.run(useLink, values)) !== 1) throw new StaffError('this link is over');
  }

  return {
    /**
     * Returns the person for whom an invitation link was made; `null` if the link was used, replaced, or has
     * expired.
     */
    async findLink(token: string): Promise<StaffLink | null> {
      const sql =
        'SELECT staff_id AS id, ends_at AS "endsAt" FROM app_staff_links WHERE digest = :digest AND ends_at > :now';
      const values = { digest: digestOf(token), now: now() };
      const found = await database.get<{ id: string; endsAt: number }>(sql, values);
      const member = found === undefined ? null : await rows.get(found.id);
      return found === undefined || member === null
        ? null
        : { member, token, endsAt: new Date(found.endsAt) };
    },

    /**
     * Uses up an invitation link to set a password and, with `totp`, one-time codes.
     * @param totp - secret of the one-time codes, and a code of it; `null` if the password alone signs in
     * @returns the recovery codes, of which only digests are stored, or an empty list without `totp`; `null`
     * if the one-time code is wrong, and then the link still works
     * @throws StaffError if the link is over
     */
    async setPassword(
      link: StaffLink,
      password: string,
      totp: { readonly secret: Uint8Array; readonly code: string } | null,
    ): Promise<readonly string[] | null> {
      const { id } = link.member;
      const step = totp === null ? 0 : stepOf(totp.secret, totp.code.replaceAll(/\s/g, ''), now());
      if (step === null) return null;
      const hash = await passwords.hash(password);
      const recovery = totp === null ? [] : newRecoveryCodes();
      const sealed = totp === null ? null : sealer.seal(totp.secret, id);
      await database.write(async (transaction) => {
        await use(transaction, link);
        const sql = `UPDATE app_staff SET password_hash = :hash, totp = :sealed, totp_step = :step WHERE id = :id`;
        await transaction.run(sql, { id, hash, sealed, step });
        for (const code of recovery) {
          const values = { id, digest: recoveryDigest(code) };
          await transaction.run(
            'INSERT INTO app_staff_codes (digest, staff_id) VALUES (:digest, :id)',
            values,
          );
        }
      });
      return recovery;
    },

    /**
     * Adds a passkey to the account of a staff member.
     * @param link - link to use up; `null` for a person who is signed in
     * @throws StaffError if the link is over, or the passkey belongs to somebody
     */
    async addPasskey(id: string, passkey: StoredPasskey, link: StaffLink | null): Promise<void> {
      const { publicKey, counter } = passkey;
      const values = { passkey: passkey.id, id, publicKey: Buffer.from(publicKey), counter, now: now() };
      await database.write(async (transaction) => {
        if (link !== null) await use(transaction, link);
        const added = await transaction.run(
          `INSERT INTO app_staff_passkeys (id, staff_id, public_key, counter, created_at)
           VALUES (:passkey, :id, :publicKey, :counter, :now) ON CONFLICT (id) DO NOTHING`,
          values,
        );
        if (added !== 1) throw new StaffError('this passkey is registered already');
      });
    },
  };
}
