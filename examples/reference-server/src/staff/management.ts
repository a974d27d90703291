import { createHash, randomBytes } from 'node:crypto';
import type { OperatorRole } from '@ostiary/core';
import { type Database, type Transaction, UniqueViolation } from '../database/database.ts';
import {
  linkLifetimeMs,
  StaffError,
  type StaffLink,
  type StaffMember,
  type StaffRow,
  type StaffRows,
  selectStaff,
  toMember,
} from './members.ts';

/**
 * Rule for e-mail addresses of staff: enough to catch a mistyped one. Only ASCII, so that addresses that look
 * equal are equal.
 */
const emailFormat = /^(?=.{3,200}$)[!-?A-~]+@[A-Za-z0-9.-]+$/;

const newLink = `
  INSERT INTO app_staff_links (staff_id, digest, ends_at) VALUES (:id, :digest, :endsAt)
  ON CONFLICT (staff_id) DO UPDATE SET digest = :digest, ends_at = :endsAt`;

/**
 * Endings of the tables `app_staff_…` whose rows let staff in: passkeys, recovery codes, invitation links and
 * sessions.
 */
const waysIn = ['passkeys', 'codes', 'links', 'sessions'];

async function removeWaysIn(transaction: Transaction, id: string, kinds = waysIn): Promise<void> {
  for (const kind of kinds)
    await transaction.run(`DELETE FROM app_staff_${kind} WHERE staff_id = :id`, { id });
}

/** Makes the functions that invite people, and change or end their access. */
export function createManagement(database: Database, rows: StaffRows, now: () => number) {
  async function link(transaction: Transaction, row: StaffRow): Promise<StaffLink> {
    const token = randomBytes(32).toString('base64url');
    const endsAt = now() + linkLifetimeMs;
    await transaction.run(newLink, {
      id: row.id,
      digest: createHash('sha256').update(token).digest(),
      endsAt,
    });
    return { member: toMember(row), token, endsAt: new Date(endsAt) };
  }

  /**
   * Returns a staff member who is about to lose access or the role. Locks all owners, so that two of them cannot remove
   * each other at the same time.
   * @throws StaffError if nobody else could manage the service afterwards
   */
  async function notLastOwner(transaction: Transaction, email: string): Promise<StaffRow> {
    await transaction.run("UPDATE app_staff SET role = role WHERE role = 'owner'");
    const row = await rows.require(transaction, email);
    const owners = await transaction.all<StaffRow>(
      `${selectStaff} WHERE role = 'owner' AND disabled_at IS NULL`,
    );
    const able = owners.map(toMember).filter(({ hasJoined }) => hasJoined);
    if (able.length === 1 && able[0]?.id === row.id)
      throw new StaffError(
        `${row.email} is the last owner who can sign in; invite another one first`,
        'last_owner',
      );
    return row;
  }

  return {
    /** Adds a staff member. @throws StaffError if the address is wrong or taken */
    async invite(email: string, role: OperatorRole): Promise<StaffLink> {
      if (!emailFormat.test(email)) throw new StaffError('this is not an e-mail address', 'invalid');
      const id = `stf_${randomBytes(10).toString('hex')}`;
      const values = { id, email, role, createdAt: now() };
      try {
        return await database.write(async (transaction) => {
          await transaction.run(
            'INSERT INTO app_staff (id, email, role, created_at) VALUES (:id, :email, :role, :createdAt)',
            values,
          );
          return link(transaction, await rows.require(transaction, email));
        });
      } catch (error) {
        if (!(error instanceof UniqueViolation)) throw error;
        throw new StaffError(`${email} was invited before; \`staff reset\` makes a new link`, 'taken');
      }
    },

    /** Changes the role of a staff member. @throws StaffError for the last owner */
    changeRole: (email: string, role: OperatorRole): Promise<StaffMember> =>
      database.write(async (transaction) => {
        const { id } = await (role === 'owner' ? rows.require : notLastOwner)(transaction, email);
        await transaction.run('UPDATE app_staff SET role = :role WHERE id = :id', { id, role });
        return toMember(await rows.require(transaction, email));
      }),

    /** Ends the sessions of a person, who cannot sign in again. @throws StaffError for the last owner */
    disable: (email: string): Promise<StaffMember> =>
      database.write(async (transaction) => {
        const { id } = await notLastOwner(transaction, email);
        const sql = 'UPDATE app_staff SET disabled_at = coalesce(disabled_at, :now) WHERE id = :id';
        await transaction.run(sql, { id, now: now() });
        await removeWaysIn(transaction, id, ['links', 'sessions']);
        return toMember(await rows.require(transaction, email));
      }),

    /** Ends the sessions of a staff member, who can sign in again. */
    endSessions: (email: string): Promise<StaffMember> =>
      database.write(async (transaction) => {
        const row = await rows.require(transaction, email);
        await removeWaysIn(transaction, row.id, ['sessions']);
        return toMember(row);
      }),

    /**
     * Removes passwords, codes, passkeys and sessions of a person, who sets up a new sign-in with the link. A
     * disabled person can sign in again afterwards.
     */
    reset: (email: string): Promise<StaffLink> =>
      database.write(async (transaction) => {
        const { id } = await rows.require(transaction, email);
        await removeWaysIn(transaction, id);
        const sql = `UPDATE app_staff SET password_hash = NULL, totp = NULL, disabled_at = NULL WHERE id = :id`;
        await transaction.run(sql, { id });
        return link(transaction, await rows.require(transaction, email));
      }),
  };
}
