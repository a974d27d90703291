// Nothing but the requests: the bytes are there before, and nothing is remembered of the answers.
import { signWebhook } from '@ostiary/webhook-verifier';
import { Agent, Pool, request } from 'undici';
import { obey, settings } from '../../../support/measure/control.ts';
import { eventId, partner, secret } from '../../queue/fixture.ts';
import { bodyOf, inFlight } from '../fixture.ts';

const { sink } = settings<{ readonly sink: number }>();
const url = `http://127.0.0.1:${sink}/hook`;
const agent = new Agent({ connections: inFlight });
const pool = new Pool(new URL(url).origin, { connections: inFlight });

interface Post {
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** The two ways to post with undici: to a URL, as a delivery has one, and to a path of an origin that is open already. */
const ways = {
  url: (post: Post) => request(url, { method: 'POST', dispatcher: agent, ...post }),
  pool: (post: Post) => pool.request({ path: '/hook', method: 'POST', ...post }),
};

obey({
  /** Makes that many POSTs and answers the seconds that they took. */
  async deliver({ count, way }: { readonly count: number; readonly way: keyof typeof ways }) {
    const requests = await Promise.all(
      Array.from({ length: count }, async (_, number) => {
        const id = eventId(number);
        const timestamp = Math.floor(Date.now() / 1000);
        const signed = await signWebhook(bodyOf(id), {
          secret,
          id,
          type: 'payment.completed',
          timestamp,
          partner,
        });
        return { headers: { ...signed.headers }, body: signed.body };
      }),
    );
    const started = performance.now();
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        for (let next = requests.pop(); next !== undefined; next = requests.pop()) {
          const { statusCode, body } = await ways[way](next);
          await body.dump();
          if (statusCode !== 204) throw new Error(`the sink answered ${statusCode}`);
        }
      }),
    );
    return (performance.now() - started) / 1000;
  },
});
