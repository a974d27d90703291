// Runs one candidate in a separate process.
import { obey, settings } from '../../../support/processes/control.ts';
import { eventType } from '../../queue/fixture.ts';
import { type Candidate, candidates } from '../candidates.ts';
import type { CandidateName, Delivery } from '../fixture.ts';

const different = 256;

/**
 * Builds new webhook deliveries for a round, because the libraries compare the age of a delivery with the
 * clock.
 */
async function deliveriesOf({ sign }: Candidate): Promise<Delivery[]> {
  const timestamp = Math.floor(Date.now() / 1000);
  return Promise.all(Array.from({ length: different }, (_, number) => sign(number, timestamp)));
}

async function accepts(candidate: Candidate, delivery: Delivery): Promise<boolean> {
  try {
    const event = await candidate.verify(delivery);
    return JSON.stringify(event).includes(eventType);
  } catch {
    return false;
  }
}

/**
 * Checks that the compared verifier accepts a valid delivery and refuses a forged delivery. @throws Error if
 * the verifier does not
 */
async function requireVerification(candidate: Candidate, [delivery]: readonly Delivery[]): Promise<void> {
  if (delivery === undefined || !(await accepts(candidate, delivery)))
    throw new Error('a valid delivery is refused');
  const body = Buffer.from(delivery.body.toString().replace('125.00', '925.00'));
  if (await accepts(candidate, { ...delivery, body })) throw new Error('a changed body is accepted');
}

const candidate = candidates[settings<{ readonly name: CandidateName }>().name];
await requireVerification(candidate, await deliveriesOf(candidate));

obey({
  /**
   * Verifies 256 new deliveries again and again, at least `count` times in all, and returns the number of
   * verifications per second.
   */
  async verify(count: number): Promise<number> {
    const deliveries = await deliveriesOf(candidate);
    const started = performance.now();
    let done = 0;
    for (; done < count; done += deliveries.length) {
      for (const delivery of deliveries) {
        const event = candidate.verify(delivery);
        // Await only promises, so that synchronous candidates do not pay for one.
        if (event instanceof Promise) await event;
      }
    }
    return (done * 1000) / (performance.now() - started);
  },
});
