import type { KycChanged, KycState, PublishedEvent } from '@ostiary/core';
import type { Database } from '../database/database.ts';
import { type Account, type Accounts, noSuchUser } from './accounts.ts';

/** Changes results of identity checks, and notifies partners. */
export type IdentityChecks = ReturnType<typeof createIdentityChecks>;

interface Row {
  readonly sub: string;
  readonly kid: string;
  readonly kyc_status: KycState['kycStatus'];
  readonly kyc_tier: KycState['kycTier'];
}

/**
 * Makes the function that changes identity checks. The function writes the user's row and the events about
 * the change in one transaction of this server's own connection, so that a crash at any moment leaves both or
 * neither.
 */
export function createIdentityChecks(
  database: Database,
  accounts: Pick<Accounts, 'require'>,
  kycChanged: KycChanged,
) {
  const { caseless } = database;
  // Changes nothing, but returns the row and locks it against other changes.
  const lock = `
    UPDATE app_users SET kyc_status = kyc_status WHERE ${caseless('handle')} = ${caseless(':handle')}
    RETURNING sub, kid, kyc_status, kyc_tier`;
  const update = 'UPDATE app_users SET kyc_status = :kycStatus, kyc_tier = :kycTier WHERE sub = :sub';

  return {
    /**
     * Changes a user's identity check. Members that are left out stay as they are. Returns one event for
     * every partner to notify; none if nothing changed.
     *
     * @throws {@link AccountError}
     */
    async change(
      handle: string,
      changes: Partial<KycState>,
    ): Promise<{ readonly account: Account; readonly events: readonly PublishedEvent[] }> {
      const events = await database.write(async (transaction) => {
        const before = await transaction.get<Row>(lock, { handle });
        if (before === undefined) throw noSuchUser(handle);
        const { sub, kid } = before;
        const previous: KycState = { kycStatus: before.kyc_status, kycTier: before.kyc_tier };
        const after: KycState = { ...previous, ...changes };
        await transaction.run(update, { ...after, sub });
        return kycChanged({ sub, kid, ...after, previous }, { transaction: transaction.handle });
      });
      return { account: await accounts.require(handle), events };
    },
  };
}
