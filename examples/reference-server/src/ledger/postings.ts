import type { Queries, Transaction } from '../database/database.ts';

/** Currencies of the ledger. Amounts are integers of their minor units. */
export const ledgerCurrencies = ['HTG', 'USD'] as const;

/** Currency of the ledger; see {@link ledgerCurrencies}. */
export type LedgerCurrency = (typeof ledgerCurrencies)[number];

/** Balances in minor units, by currency. */
export type Funds = Readonly<Record<LedgerCurrency, bigint>>;

/** Owner of an account. `external` is the outside world, from which all money of users and partners came. */
export type AccountHolder =
  | { readonly kind: 'user'; readonly sub: string }
  | { readonly kind: 'partner'; readonly slug: string }
  | { readonly kind: 'external' };

/** A movement of money from one account to another. */
export interface Movement {
  /** Unique id of the movement: a movement with an existing id has already been made. */
  readonly id: string;
  readonly kind: 'opening' | 'funding' | 'transfer';
  readonly from: AccountHolder;
  readonly to: AccountHolder;
  /** Amount of the movement in minor units, above zero. */
  readonly amount: bigint;
  readonly currency: LedgerCurrency;
  /** Time of the money's movement, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Error for a movement of money that is not possible. The caller must roll the transaction back. */
export class MovementRefused extends Error {
  override readonly name = 'MovementRefused';
  readonly reason: 'unknown_recipient' | 'insufficient_funds' | 'balance_limit';

  constructor(reason: 'unknown_recipient' | 'insufficient_funds' | 'balance_limit') {
    super(reason);
    this.reason = reason;
  }
}

/** Highest balance, well within 64 bits, because in SQLite an integer that overflows becomes a float. */
const highestBalance = 9_000_000_000_000_000_000n;

function ownerOf(holder: AccountHolder): string {
  return holder.kind === 'user' ? holder.sub : holder.kind === 'partner' ? holder.slug : '';
}

const keyOf = (holder: AccountHolder): string => `${holder.kind} ${ownerOf(holder)}`;

async function accountOf(
  transaction: Transaction,
  holder: AccountHolder,
  currency: LedgerCurrency,
): Promise<number> {
  const account = { kind: holder.kind, owner: ownerOf(holder), currency };
  const find = () =>
    transaction.get<{ id: number }>(
      'SELECT id FROM app_accounts WHERE kind = :kind AND owner = :owner AND currency = :currency',
      account,
    );
  const known = await find();
  if (known !== undefined) return known.id;
  await transaction.run(
    `INSERT INTO app_accounts (kind, owner, currency, balance) VALUES (:kind, :owner, :currency, 0)
     ON CONFLICT DO NOTHING`,
    account,
  );
  const opened = await find();
  if (opened === undefined) throw new Error('an account that was opened is not there');
  return opened.id;
}

async function debit(transaction: Transaction, id: number, amount: bigint): Promise<void> {
  const changed = await transaction.run(
    `UPDATE app_accounts SET balance = balance - :amount
     WHERE id = :id AND (kind = 'external' OR balance >= :amount)`,
    { id, amount },
  );
  if (changed === 0) throw new MovementRefused('insufficient_funds');
}

async function credit(transaction: Transaction, id: number, amount: bigint): Promise<void> {
  const changed = await transaction.run(
    'UPDATE app_accounts SET balance = balance + :amount WHERE id = :id AND balance <= :room',
    { id, amount, room: highestBalance - amount },
  );
  if (changed === 0) throw new MovementRefused('balance_limit');
}

/**
 * Moves money: writes one journal entry and two postings that add up to zero, and changes two balances.
 * Accounts are locked in the same order for both directions, so that movements cannot deadlock.
 *
 * @returns true if the movement was made now, `false` if it had been made before
 * @throws {@link MovementRefused}
 */
export async function post(transaction: Transaction, movement: Movement): Promise<boolean> {
  const { id, kind, currency, amount, at } = movement;
  if (amount <= 0n) throw new RangeError('a movement moves more than nothing');
  const journal = await transaction.run(
    `INSERT INTO app_movements (id, kind, currency, posted_at) VALUES (:id, :kind, :currency, :at)
     ON CONFLICT DO NOTHING`,
    { id, kind, currency, at },
  );
  if (journal === 0) return false;
  const accounts = new Map<AccountHolder, number>();
  for (const holder of [movement.from, movement.to].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)))
    accounts.set(holder, await accountOf(transaction, holder, currency));
  const [from = 0, to = 0] = [accounts.get(movement.from), accounts.get(movement.to)];
  const changes = [
    { account: from, make: debit },
    { account: to, make: credit },
  ].sort((a, b) => a.account - b.account);
  for (const { account, make } of changes) await make(transaction, account, amount);
  await transaction.run(
    'INSERT INTO app_postings (movement_id, account_id, amount) VALUES (:id, :from, :minus), (:id, :to, :amount)',
    { id, from, to, minus: -amount, amount },
  );
  return true;
}

/** Returns the balances of an owner; zero for accounts without postings. */
export async function balancesOf(queries: Queries, holder: AccountHolder): Promise<Funds> {
  const rows = await queries.all<{ currency: string; balance: string }>(
    'SELECT currency, CAST(balance AS TEXT) AS balance FROM app_accounts WHERE kind = :kind AND owner = :owner',
    { kind: holder.kind, owner: ownerOf(holder) },
  );
  const of = (wanted: LedgerCurrency): bigint =>
    BigInt(rows.find(({ currency }) => currency === wanted)?.balance ?? 0);
  return { HTG: of('HTG'), USD: of('USD') };
}
