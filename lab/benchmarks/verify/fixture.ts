/** What every candidate verifies: the same event of 1 KB, under a signature of its own kind. */

/** The name of a candidate. */
export type CandidateName = 'ostiary' | 'limit' | 'svix' | 'standardwebhooks' | 'stripe';

/** One delivery as a Node server hands it over. */
export interface Delivery {
  readonly body: Buffer;
  readonly headers: { readonly [name: string]: string };
}

/** 32 bytes in base64, as svix and standardwebhooks want them; the others take it as it stands. */
export const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;

/** The size of the body, in bytes. */
export const bodySize = 1024;

/** An event as Ostiary sends it, filled up to {@link bodySize}. */
export function eventBody(number: number): Buffer {
  const id = number.toString().padStart(10, '0');
  const event = {
    id: `evt_${id}`,
    type: 'payment.completed',
    createdAt: '2026-01-31T10:00:00.000Z',
    mode: 'live',
    data: {
      id: `tr_${id}`,
      status: 'completed',
      mode: 'live',
      amount: '1250.00',
      currency: 'HTG',
      recipient: { kid: `kid_${id}` },
      description: 'Une facture payée',
      reference: `invoice-${id}`,
      metadata: { order: id, items: [1, 2, 3], note: '' },
      failure: null,
      createdAt: '2026-01-31T09:59:58.000Z',
      updatedAt: '2026-01-31T10:00:00.000Z',
      completedAt: '2026-01-31T10:00:00.000Z',
    },
  };
  event.data.metadata.note = 'n'.repeat(bodySize - Buffer.byteLength(JSON.stringify(event)));
  return Buffer.from(JSON.stringify(event));
}

/** What a server sees besides the headers of the signature. */
export const otherHeaders = {
  host: 'receiver.example',
  'user-agent': 'Ostiary',
  accept: '*/*',
  'content-type': 'application/json',
  'content-length': `${bodySize}`,
  'accept-encoding': 'identity',
  'x-forwarded-for': '203.0.113.7',
  'x-forwarded-proto': 'https',
  connection: 'keep-alive',
};
