/** Constants that all processes of the webhook benchmarks share. */

/**
 * Secret of the endpoint: 32 bytes in base64, as svix and standardwebhooks require; the others use its text.
 */
export const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

/** Partner that owns the endpoint. */
export const partner = 'bench';

/** Type of every event: a custom one of the host. */
export const eventType = 'order.shipped';

/**
 * Maximum number of concurrent POSTs of one process. Ostiary's own limit for one endpoint is 64; 128 is
 * more than it takes to keep two processors busy.
 */
export const inFlight = 128;

/** Data of an event: enough for a body of about a kilobyte. */
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

/** Returns the bytes of an event, as Ostiary fixes them on publishing. */
export function bodyOf(id: string): string {
  return JSON.stringify({ id, type: eventType, createdAt: '2026-03-01T12:00:01.000Z', mode: 'live', data });
}

/** Length of every body, in bytes. */
export const bodyBytes: number = Buffer.byteLength(bodyOf(eventId(0)));

/** Returns an event id. It is unique in a run if every process has its own numbers. */
export function eventId(number: number): string {
  return `evt_${number.toString(16).padStart(32, '0')}`;
}
