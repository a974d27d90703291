/** What every server of the benchmark agrees on. */

export const paths = {
  verify: '/v1/partner/verify',
  user: '/v1/partner/users/:kid',
  payments: '/v1/partner/payments',
  reconciliation: '/v1/partner/reconciliation',
} as const;

export const partner = 'bench';

/** A user with everything that partners may see. */
export interface User {
  readonly sub: string;
  readonly kid: string;
  readonly role: string;
  readonly country: string;
  readonly createdAt: string;
  readonly name: string;
  readonly handle: string;
  readonly avatarUrl: null;
  readonly kycStatus: 'approved';
  readonly kycTier: 2;
}

/** The directory: a look-up in memory, so that it is not what is measured. */
export const users: readonly User[] = Array.from({ length: 1_000 }, (_, index) => {
  const number = String(index + 1).padStart(4, '0');
  return {
    sub: `user-${number}`,
    kid: `KID-${number}`,
    role: 'member',
    country: 'HT',
    createdAt: '2024-03-01T12:00:00.000Z',
    name: `User ${number}`,
    handle: `user${number}`,
    avatarUrl: null,
    kycStatus: 'approved',
    kycTier: 2,
  };
});

/** The day whose transfers are exported: closed long ago. */
export const exportDay = '2025-06-15';
