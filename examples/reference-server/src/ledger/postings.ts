import type { Connection } from '../database/database.ts';

/** The currencies of the ledger. Amounts are integers of their minor units. */
export const ledgerCurrencies = ['HTG', 'USD'] as const;

/** See {@link ledgerCurrencies}. */
export type LedgerCurrency = (typeof ledgerCurrencies)[number];

/** Whose account it is. `external` is the world outside: what users and partners have came from there. */
export type AccountHolder =
  | { readonly kind: 'user'; readonly sub: string }
  | { readonly kind: 'partner'; readonly slug: string }
  | { readonly kind: 'external' };

/** Money that goes from one account to another. */
export interface Movement {
  /** Unique: a movement with an id that is there has been made. */
  readonly id: string;
  readonly kind: 'opening' | 'funding' | 'transfer';
  readonly from: AccountHolder;
  readonly to: AccountHolder;
  /** Minor units, above zero. */
  readonly amount: bigint;
  readonly currency: LedgerCurrency;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** What became of a movement. Only `posted` changed anything. */
export type Posting = 'posted' | 'known' | 'insufficient_funds' | 'balance_limit';

/** The books, for use inside a transaction of the caller: nothing here begins one. */
export interface Postings {
  /** Makes a movement: one line in the journal, two postings that add up to zero, two balances. */
  post(movement: Movement): Posting;
  /** Minor units; zero for an account that nothing was ever posted to. */
  balance(holder: AccountHolder, currency: LedgerCurrency): bigint;
}

/** Keeps every balance well inside 64 bits: an addition that overflows is no integer in SQLite. */
const highestBalance = 9_000_000_000_000_000_000n;

function ownerOf(holder: AccountHolder): string {
  return holder.kind === 'user' ? holder.sub : holder.kind === 'partner' ? holder.slug : '';
}

/** See {@link Postings}. */
export function createPostings(connection: Connection): Postings {
  const openAccount = connection.prepare<[string, string, string]>(
    'INSERT INTO app_accounts (kind, owner, currency, balance) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING',
  );
  const account = connection
    .prepare<[string, string, string], { id: bigint; balance: bigint }>(
      'SELECT id, balance FROM app_accounts WHERE kind = ? AND owner = ? AND currency = ?',
    )
    .safeIntegers();
  const journal = connection.prepare<[string, string, string, number]>(
    'INSERT INTO app_movements (id, kind, currency, posted_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const posting = connection.prepare<[string, bigint, bigint]>(
    'INSERT INTO app_postings (movement_id, account_id, amount) VALUES (?, ?, ?)',
  );
  const debit = connection.prepare<{ id: bigint; amount: bigint }>(
    `UPDATE app_accounts SET balance = balance - @amount
     WHERE id = @id AND (kind = 'external' OR balance >= @amount)`,
  );
  const credit = connection.prepare<{ id: bigint; amount: bigint; highest: bigint }>(
    'UPDATE app_accounts SET balance = balance + @amount WHERE id = @id AND balance <= @highest - @amount',
  );

  function idOf(holder: AccountHolder, currency: LedgerCurrency): bigint {
    const owner = ownerOf(holder);
    openAccount.run(holder.kind, owner, currency);
    const row = account.get(holder.kind, owner, currency);
    if (row === undefined) throw new Error('an account that was opened is not there');
    return row.id;
  }

  /** Either all of it or nothing: a savepoint inside the caller's transaction. */
  const attempt = connection.transaction((movement: Movement): Posting => {
    const { id, kind, currency, amount, at } = movement;
    if (journal.run(id, kind, currency, at).changes === 0) return 'known';
    const [from, to] = [idOf(movement.from, currency), idOf(movement.to, currency)];
    if (debit.run({ id: from, amount }).changes === 0) throw new Refused('insufficient_funds');
    if (credit.run({ id: to, amount, highest: highestBalance }).changes === 0)
      throw new Refused('balance_limit');
    posting.run(id, from, -amount);
    posting.run(id, to, amount);
    return 'posted';
  });

  return {
    post(movement) {
      if (movement.amount <= 0n) throw new RangeError('a movement moves more than nothing');
      try {
        return attempt(movement);
      } catch (error) {
        if (error instanceof Refused) return error.reason;
        throw error;
      }
    },
    balance: (holder, currency) => account.get(holder.kind, ownerOf(holder), currency)?.balance ?? 0n,
  };
}

/** Takes the savepoint back. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly reason: 'insufficient_funds' | 'balance_limit';

  constructor(reason: 'insufficient_funds' | 'balance_limit') {
    super(reason);
    this.reason = reason;
  }
}
