import { signWebhook } from '@ostiary/webhook-verifier';
import { Agent, request } from 'undici';
import { eachOf } from '../../../support/proof.ts';
import { eventType, inFlight, partner, secret } from '../fixture.ts';

/**
 * A webhook as a job of a queue library. The body is text, because a JSON column would not keep the exact
 * bytes.
 */
export interface Job {
  readonly id: string;
  readonly body: string;
}

const agent = new Agent({ connections: inFlight });

/** Further headers that Ostiary sends, added so that all queue libraries send the same headers. */
const sender = { 'user-agent': 'Ostiary-Webhooks/1', accept: '*/*', 'accept-encoding': 'identity' };

/**
 * Signs and posts a webhook in the way Ostiary does. @throws Error for every response but a 2xx
 */
export async function post(url: string, { id, body }: Job): Promise<void> {
  const signed = await signWebhook(Buffer.from(body), {
    secret,
    id,
    type: eventType,
    timestamp: Math.floor(Date.now() / 1000),
    partner,
    attempt: 1,
  });
  const answer = await request(url, {
    method: 'POST',
    headers: { ...sender, ...signed.headers },
    body: signed.body,
    dispatcher: agent,
  });
  await answer.body.dump();
  if (answer.statusCode < 200 || answer.statusCode > 299) throw new Error(`answered ${answer.statusCode}`);
}

/** Posts several jobs, a limited number at once. */
export async function postAll(url: string, jobs: readonly Job[], concurrency: number): Promise<void> {
  await eachOf(jobs, concurrency, (job) => post(url, job));
}
