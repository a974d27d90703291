/** Requests and responses of the benchmark, with the same bytes for the SDK and the client without an SDK. */

/** Measured calls: `passports.verify`, and of payments `create`, `retrieve` and a page of `list`. */
export const callNames = ['verify', 'create', 'retrieve', 'list'] as const;
export type CallName = (typeof callNames)[number];

/** API key in the right form, which no service knows. */
export const apiKey = `svc_test_${'A1b2C3d4'.repeat(6)}`;

export const passport = { token: 'p'.repeat(400) };

export const payment = {
  amount: '125.00',
  currency: 'HTG',
  recipient: { kid: 'KID-TEST-APPROVED' },
  description: 'Cashback',
  reference: 'order-1017',
} as const;

export const transferId = 'tr_0123456789abcdef0123456789abcdef';

const transfer = {
  id: transferId,
  status: 'completed',
  mode: 'test',
  ...payment,
  metadata: { order: '1017' },
  failure: null,
  createdAt: '2026-01-31T10:00:00.000Z',
  updatedAt: '2026-01-31T10:00:01.000Z',
  completedAt: '2026-01-31T10:00:01.000Z',
};

/** An operation of the API: its request as written by hand, and its response. */
interface Operation {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** True if the request has an `Idempotency-Key`. */
  readonly isKeyed?: boolean;
  /** @defaultValue 200 */
  readonly status?: number;
  readonly answer: object;
}

export const operations: { readonly [Name in CallName]: Operation } = {
  verify: {
    method: 'POST',
    path: '/v1/partner/verify',
    body: passport,
    answer: {
      valid: true,
      user: { kid: 'KID-TEST-APPROVED', role: 'member', country: 'HT', kycStatus: 'approved', kycTier: 2 },
      issuedAt: '2026-01-31T10:00:00.000Z',
      expiresAt: '2026-01-31T10:05:00.000Z',
    },
  },
  create: {
    method: 'POST',
    path: '/v1/partner/payments',
    body: payment,
    isKeyed: true,
    status: 201,
    answer: { ...transfer, status: 'pending', completedAt: null },
  },
  retrieve: {
    method: 'GET',
    path: `/v1/partner/payments/${transferId}`,
    answer: transfer,
  },
  list: {
    method: 'GET',
    path: '/v1/partner/payments?limit=25',
    answer: {
      data: Array.from({ length: 25 }, (_, index) => ({ ...transfer, reference: `order-${index}` })),
      nextCursor: null,
    },
  },
};
