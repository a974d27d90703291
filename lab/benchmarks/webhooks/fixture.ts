/** Requests under way at once, on either side. */
export const inFlight = 64;

/** An event's body, as core would fix it: a completed transfer. */
export function bodyOf(id: string): string {
  return JSON.stringify({
    id,
    type: 'payment.completed',
    createdAt: '2026-03-01T12:00:01.000Z',
    mode: 'live',
    data: {
      id: 'tr_0123456789abcdef0123456789abcdef',
      status: 'completed',
      mode: 'live',
      amount: '125.00',
      currency: 'HTG',
      recipient: { kid: 'KID-BENCH-000017' },
      description: 'Invoice 1017 of the coffee house',
      reference: 'order-1017',
      metadata: { table: '12', waiter: 'Nadia' },
      failure: null,
      createdAt: '2026-03-01T12:00:00.000Z',
      updatedAt: '2026-03-01T12:00:01.000Z',
      completedAt: '2026-03-01T12:00:01.000Z',
    },
  });
}
