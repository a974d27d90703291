import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { probe } from '../../../../packages/cli/src/doctor/ask.ts';
import { keyIdOf, proofOf } from '../../../../packages/cli/src/doctor/key-proofs.ts';
import { startServer } from '../support/server.ts';

const newKey = (): string => randomBytes(32).toString('base64url');

test('a server responds to the doctor only if it proves knowledge of one of the sealing keys', async () => {
  const [first, second] = [newKey(), newKey()];
  const { origin } = await startServer({}, { OSTIARY_SEALING_KEYS: `${first},${second}` });
  expect(await probe(origin, [second])).toMatchObject({ isTrusted: false, isForwarded: false });
  // The proof is accepted if any of the doctor's keys is the server's.
  expect(await probe(origin, [newKey(), first])).not.toBeNull();
  expect(await probe(origin, [newKey()])).toBeNull();

  const nothing = await (await fetch(`${origin}/nowhere`)).text();
  const asked = `${Date.now() - 25 * 3_600_000}-${randomBytes(12).toString('hex')}`;
  const tooOld = `Doctor ${asked}.${proofOf(first, `ask ${asked}`)}`;
  for (const authorization of ['', 'Doctor x.y', `Doctor ${asked}.${'0'.repeat(64)}`, tooOld]) {
    const answer = await fetch(`${origin}/doctor`, { headers: { authorization } });
    expect([answer.status, await answer.text()]).toEqual([404, nothing]);
  }
});

test('the doctor distrusts a server that cannot prove its key', async () => {
  const key = newKey();
  const { origin } = await startServer();
  // Anybody could respond with such JSON, but not with the proof.
  expect(await probe(origin, [key])).toBeNull();
  expect(keyIdOf(key)).not.toContain(key.slice(0, 6));
});
