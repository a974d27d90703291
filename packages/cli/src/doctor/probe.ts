import { randomBytes } from 'node:crypto';
import { type Answer, ask } from './ask.ts';
import { proofOf } from './key-proofs.ts';
import type { ProbeAnswer } from './route.ts';

/** A server of this installation answered. */
export interface Probed extends ProbeAnswer {
  readonly answer: Answer;
}

/**
 * Asks a server to prove that it has a sealing key of this installation, and whom it takes the doctor for; `null` when
 * what answers cannot.
 *
 * @throws Error when nothing answers
 */
export async function probe(
  origin: string,
  sealingKeys: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Probed | null> {
  for (const key of sealingKeys) {
    const asked = `${Date.now()}-${randomBytes(12).toString('hex')}`;
    const authorization = `Doctor ${asked}.${proofOf(key, `ask ${asked}`)}`;
    const answer = await ask(`${origin}/doctor`, { ...headers, authorization });
    const { status, body } = answer;
    if (status === 200 && answer.header('x-doctor-proof') === proofOf(key, `answer ${asked} ${body}`)) {
      const told: ProbeAnswer = JSON.parse(body);
      return { ...told, answer };
    }
  }
  return null;
}
