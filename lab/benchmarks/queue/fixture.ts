/** What every process of the benchmarks of webhooks agrees on. */

/** The secret of the endpoint: 32 bytes in base64, as svix and standardwebhooks want them; the others take it as it stands. */
export const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

/** The partner whose endpoint it is. */
export const partner = 'bench';

/** The type of every event: one of the host's own. */
export const eventType = 'order.shipped';

/**
 * POSTs under way at once in one process, at most, whoever makes them. It is what Ostiary allows one endpoint, and more
 * than it takes to keep two processors busy.
 */
export const inFlight = 128;

/** What an event is about: enough for a body of about a kilobyte. */
export const data = {
  order: 'order-1017',
  carrier: 'Sud Express',
  tracking: 'SX-0123456789-HT',
  items: Array.from({ length: 6 }, (_, index) => ({
    sku: `COFFEE-${index}`,
    name: 'Coffee from Thiotte, 250 g, roasted and ground',
    quantity: index + 1,
    price: { amount: '125.00', currency: 'HTG' },
  })),
};

/** The bytes of an event, as Ostiary fixes them when it is published. */
export function bodyOf(id: string): string {
  return JSON.stringify({ id, type: eventType, createdAt: '2026-03-01T12:00:01.000Z', mode: 'live', data });
}

/** Of every body. */
export const bodyBytes: number = Buffer.byteLength(bodyOf(eventId(0)));

/** An event id, unique in a run as long as every process has its own numbers. */
export function eventId(number: number): string {
  return `evt_${number.toString(16).padStart(32, '0')}`;
}
