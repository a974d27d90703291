import { createHmac, timingSafeEqual } from 'node:crypto';
import { signWebhook, verify } from '@ostiary/webhook-verifier';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { secret } from '../queue/fixture.ts';
import { type CandidateName, type Delivery, eventBody, otherHeaders } from './fixture.ts';

/** A library or function that verifies webhook deliveries. */
export interface Candidate {
  /** Builds a webhook delivery that is signed at the given time, in Unix seconds. */
  sign(number: number, timestamp: number): Delivery | Promise<Delivery>;
  /** Returns the verified event or throws; returns a promise if the library does. */
  verify(delivery: Delivery): unknown;
}

async function signAsOstiary(number: number, timestamp: number): Promise<Delivery> {
  const body = eventBody(number);
  const { id, type } = JSON.parse(body.toString());
  const { headers } = await signWebhook(body, { secret, id, type, timestamp, partner: 'acme' });
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { body, headers: { ...otherHeaders, ...Object.fromEntries(lower) } };
}

/** Signs a delivery in the format that svix and standardwebhooks share. */
function signAsStandard(number: number, timestamp: number): Delivery {
  const body = eventBody(number);
  const id = `msg_${number}`;
  const signature = new StandardWebhook(secret).sign(id, new Date(timestamp * 1000), body.toString());
  const headers = { 'webhook-id': id, 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signature };
  return { body, headers: { ...otherHeaders, ...headers } };
}

const svix = new SvixWebhook(secret);
const standard = new StandardWebhook(secret);

/**
 * Compared webhook verifiers, each used as its documentation says. Everything that can be prepared in advance
 * is prepared.
 */
export const candidates: { readonly [Name in CandidateName]: Candidate } = {
  ostiary: {
    sign: signAsOstiary,
    verify: ({ body, headers }) => verify(body, headers, { secret }),
  },

  // Lower bound: the bare computation without checks of age, format, id or secret, and without a promise.
  limit: {
    sign: signAsOstiary,
    verify({ body, headers }) {
      const digest = createHmac('sha256', secret)
        .update(`${headers['x-svc-timestamp']}.`)
        .update(body)
        .digest();
      const given = Buffer.from(headers['x-svc-signature'] ?? '', 'hex');
      if (given.length !== digest.length || !timingSafeEqual(digest, given)) throw new Error('no match');
      return JSON.parse(body.toString());
    },
  },

  svix: {
    sign: signAsStandard,
    // Since version 2, `svix.verify` does not return the event.
    verify({ body, headers }) {
      svix.verify(body, headers);
      return JSON.parse(body.toString());
    },
  },

  standardwebhooks: {
    sign: signAsStandard,
    verify: ({ body, headers }) => standard.verify(body, headers),
  },

  stripe: {
    sign(number, timestamp) {
      const body = eventBody(number);
      const digest = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
      const signature = `t=${timestamp},v1=${digest}`;
      return { body, headers: { ...otherHeaders, 'stripe-signature': signature } };
    },
    verify: ({ body, headers }) =>
      Stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', secret),
  },
};
