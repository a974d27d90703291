import type { KycChanged, KycState, PublishedEvent } from '@ostiary/core';
import type { Database } from '../database/database.ts';
import { type Account, AccountError, type Accounts } from './accounts.ts';

/** What became of a user's identity check. */
export interface CheckedIdentity {
  readonly account: Account;
  /** One event for every partner that is told; none when nothing changed. */
  readonly events: readonly PublishedEvent[];
}

/** The outcome of identity checks, of which partners hear. */
export interface IdentityChecks {
  /**
   * Changes what is known of a user's identity. What is left out stays as it is.
   *
   * @throws {@link AccountError}
   */
  change(handle: string, changes: Partial<KycState>): Promise<CheckedIdentity>;
}

interface Row {
  readonly sub: string;
  readonly kid: string;
  readonly kyc_status: KycState['kycStatus'];
  readonly kyc_tier: KycState['kycTier'];
}

/**
 * See {@link IdentityChecks}. The user's row and the events about it are written in one transaction of this server's own
 * connection: after a crash at any moment either both are there or neither is.
 */
export function createIdentityChecks(
  database: Database,
  accounts: Pick<Accounts, 'get'>,
  kycChanged: KycChanged,
): IdentityChecks {
  const { caseless } = database;
  // An update that changes nothing, and answers what is there: from here on nobody else changes it.
  const lock = `
    UPDATE app_users SET kyc_status = kyc_status WHERE ${caseless('handle')} = ${caseless(':handle')}
    RETURNING sub, kid, kyc_status, kyc_tier`;
  const update = 'UPDATE app_users SET kyc_status = :kycStatus, kyc_tier = :kycTier WHERE sub = :sub';

  return {
    async change(handle, changes) {
      const events = await database.write(async (transaction) => {
        const before = await transaction.get<Row>(lock, { handle });
        if (before === undefined)
          throw new AccountError(`there is no user with the handle ${JSON.stringify(handle)}`);
        const { sub, kid } = before;
        const previous: KycState = { kycStatus: before.kyc_status, kycTier: before.kyc_tier };
        const after: KycState = { ...previous, ...changes };
        await transaction.run(update, { ...after, sub });
        return kycChanged({ sub, kid, ...after, previous }, { transaction: transaction.handle });
      });
      const account = await accounts.get(handle);
      if (account === null) throw new AccountError(`the user ${JSON.stringify(handle)} is gone`);
      return { account, events };
    },
  };
}
