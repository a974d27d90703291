import type { TransferRecord } from '@ostiary/core/storage';

/**
 * A transfer as it is stored. The amount is written as an integer and read as text, so that it never becomes
 * a double.
 */
type TransferRow = Omit<TransferRecord, 'amount' | 'metadata' | 'failure'> & {
  readonly metadata: string | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
};
export type NewTransferRow = TransferRow & { readonly amount: bigint };
export type Settled = Pick<TransferRow, 'id' | 'status' | 'failureCode' | 'failureMessage' | 'completedAt'>;
export type StoredTransferRow = TransferRow & { readonly amount: string };

/** Columns of a stored transfer, named like the members of the row. */
export const columns = `
  id, partner, mode, status, CAST(amount AS TEXT) AS amount, currency, recipient_kid AS recipientKid,
  description, reference, metadata, failure_code AS failureCode, failure_message AS failureMessage,
  created_at AS createdAt, updated_at AS updatedAt, completed_at AS completedAt
`;

export function failureColumns(
  failure: TransferRecord['failure'],
): Pick<TransferRow, 'failureCode' | 'failureMessage'> {
  return { failureCode: failure?.code ?? null, failureMessage: failure?.message ?? null };
}

export function rowOf({ metadata, failure, ...transfer }: TransferRecord): NewTransferRow {
  return {
    ...transfer,
    ...failureColumns(failure),
    metadata: metadata === null ? null : JSON.stringify(metadata),
  };
}

/**
 * Converts a stored row to a transfer, member by member: copying the rest of a row makes an export a tenth
 * slower.
 */
export function transferOf(row: StoredTransferRow): TransferRecord {
  const { metadata, failureCode, failureMessage } = row;
  return {
    id: row.id,
    partner: row.partner,
    mode: row.mode,
    status: row.status,
    amount: BigInt(row.amount),
    currency: row.currency,
    recipientKid: row.recipientKid,
    description: row.description,
    reference: row.reference,
    metadata: metadata === null ? null : JSON.parse(metadata),
    failure: failureCode === null ? null : { code: failureCode, message: failureMessage ?? '' },
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    completedAt: row.completedAt,
  };
}
