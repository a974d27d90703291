/** Constants that all processes of the webhook benchmarks share. */

/**
 * Secret of the webhook endpoint: 32 bytes in Base64, which svix and standardwebhooks require; the other
 * libraries use the Base64 text as the secret.
 */
export const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

/** Partner that owns the webhook endpoint of the benchmark. */
export const partner = 'bench';

/** Type of every published event: a custom type of the application. */
export const eventType = 'order.shipped';

/**
 * Maximum number of concurrent POSTs of one process without Ostiary: more than enough to keep two processors
 * busy.
 */
export const inFlight = 128;

/** Data of a published event: enough for a body of about a kilobyte. */
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

/** Returns the body of an event. Ostiary fixes these bytes when the event is published. */
export function bodyOf(id: string): string {
  return JSON.stringify({ id, type: eventType, createdAt: '2026-03-01T12:00:01.000Z', mode: 'live', data });
}

/** Length of every webhook body, in bytes. */
export const bodyBytes: number = Buffer.byteLength(bodyOf(eventId(0)));

/** Returns an event id. The id is unique in a run if every process counts from another number. */
export function eventId(number: number): string {
  return `evt_${number.toString(16).padStart(32, '0')}`;
}
