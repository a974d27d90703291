/** Constants that all servers of the benchmark share. */

export const paths = {
  verify: '/v1/partner/verify',
  user: '/v1/partner/users/:kid',
  payments: '/v1/partner/payments',
  reconciliation: '/v1/partner/reconciliation',
} as const;

export const partner = 'bench';

/** Day whose transfers are exported: closed long ago. */
export const exportDay = '2025-06-15';
