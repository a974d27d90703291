// Sends the requests alone: the bytes are built before, and responses are not stored.
import { signWebhook } from '@ostiary/webhook-verifier';
import { Agent, request } from 'undici';
import { obey, settings } from '../../../support/processes/control.ts';
import { eachOf } from '../../../support/proof.ts';
import { bodyOf, eventId, eventType, partner, secret } from '../../queue/fixture.ts';

/** Maximum number of concurrent requests of the bare sender. */
const inFlight = 64;

const { sink } = settings<{ readonly sink: number }>();
const url = `http://127.0.0.1:${sink}/hook`;
const dispatcher = new Agent({ connections: inFlight });

let signed: Awaited<ReturnType<typeof signWebhook>>[] = [];

obey({
  async sign(count: number) {
    signed = await eachOf(Array.from({ length: count }), inFlight, (_, number) => {
      const id = eventId(number);
      const timestamp = Math.floor(Date.now() / 1000);
      return signWebhook(bodyOf(id), { secret, id, type: eventType, timestamp, partner });
    });
  },
  async post() {
    await eachOf(signed, inFlight, async ({ headers, body }) => {
      const answer = await request(url, { method: 'POST', dispatcher, headers: { ...headers }, body });
      await answer.body.dump();
      if (answer.statusCode !== 204) throw new Error(`the sink answered ${answer.statusCode}`);
    });
  },
});
