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

type State = { readonly sub: string; readonly kid: string } & KycState;

/**
 * See {@link IdentityChecks}. The user's row and the events about it are written in one transaction of this server's own
 * connection: after a crash at any moment either both are there or neither is.
 */
export function createIdentityChecks(
  database: Database,
  accounts: Pick<Accounts, 'get'>,
  kycChanged: KycChanged,
): IdentityChecks {
  const { connection } = database;
  const find = connection.prepare<[string], State>(
    'SELECT sub, kid, kyc_status AS kycStatus, kyc_tier AS kycTier FROM app_users WHERE handle = ?',
  );
  const update = connection.prepare<[string, number, string]>(
    'UPDATE app_users SET kyc_status = ?, kyc_tier = ? WHERE sub = ?',
  );

  return {
    async change(handle, changes) {
      const { publishing } = await database.write(() => {
        const before = find.get(handle);
        if (before === undefined)
          throw new AccountError(`there is no user with the handle ${JSON.stringify(handle)}`);
        const { sub, kid, kycStatus, kycTier } = before;
        const after: KycState = { kycStatus, kycTier, ...changes };
        update.run(after.kycStatus, after.kycTier, sub);
        const change = { sub, kid, ...after, previous: { kycStatus, kycTier } };
        // On SQLite the events are in the transaction when this call returns; what goes wrong is thrown here and takes the
        // change back. The promise only carries their ids, in an object, because a transaction must not answer a promise.
        return { publishing: kycChanged(change, { transaction: connection }) };
      });
      const events = await publishing;
      const account = accounts.get(handle);
      if (account === null) throw new AccountError(`the user ${JSON.stringify(handle)} is gone`);
      return { account, events };
    },
  };
}
