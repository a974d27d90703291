// Nothing but the requests: the bytes are there before, and nothing is remembered of the answers.
import { signWebhook } from '@ostiary/webhook-verifier';
import { Pool } from 'undici';
import { serve, settings } from '../../shared/control.ts';
import { bodyOf, eventId, inFlight, partner, secret } from '../fixture.ts';

const { port, sink } = settings<{ readonly port: number; readonly sink: number }>();
const pool = new Pool(`http://127.0.0.1:${sink}`, { connections: inFlight });

async function post(request: { headers: Record<string, string>; body: Uint8Array }): Promise<void> {
  const { statusCode, body } = await pool.request({ path: '/hook', method: 'POST', ...request });
  await body.dump();
  if (statusCode !== 204) throw new Error(`the sink answered ${statusCode}`);
}

serve((_request, response) => void response.end(), port, {
  /** Makes that many POSTs and answers the seconds that they took. */
  async deliver(count: number) {
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
        for (let next = requests.pop(); next !== undefined; next = requests.pop()) await post(next);
      }),
    );

    return (performance.now() - started) / 1000;
  },
});
