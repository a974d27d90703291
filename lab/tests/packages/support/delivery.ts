import { signWebhook } from '@ostiary/webhook-verifier';

export const secret = 'a secret of the tests';

/** Posts a signed delivery to a webhook receiver. @returns the status and the body of the response */
export async function deliver(url: string, signedWith = secret): Promise<readonly [number, unknown]> {
  const event = {
    ...{ id: 'evt_1', type: 'webhook.test', mode: 'test' },
    ...{ createdAt: new Date().toISOString(), data: { message: 'Hello' } },
  };
  const timestamp = Math.floor(Date.now() / 1000);
  const { headers, body } = await signWebhook(JSON.stringify(event), {
    ...{ secret: signedWith, id: event.id, type: event.type, timestamp, partner: 'kafe' },
  });
  const response = await fetch(url, { method: 'POST', headers, body });
  return [response.status, await response.json()];
}
