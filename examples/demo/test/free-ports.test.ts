import { expect, it } from 'vitest';
import { freePorts, range } from '../src/free-ports.ts';

/** Returns the reason why `fetch` sends no request to a port; `null` if it sends one. */
async function refusal(port: number): Promise<string | null> {
  let isSent = false;
  const dispatcher = {
    dispatch() {
      isSent = true;
      throw new Error('this test sends nothing');
    },
  };
  const options: object = { dispatcher };
  const error: Error = await fetch(`http://127.0.0.1:${port}`, options).then(
    () => new Error('no error'),
    (reason) => reason,
  );
  return isSent ? null : `${port}: ${String(error.cause)}`;
}

it('chooses from ports to which fetch sends requests', async () => {
  expect(await refusal(10_080)).toBe('10080: Error: bad port');
  const ports = Array.from({ length: range.to - range.from }, (_, index) => range.from + index);
  expect((await Promise.all(ports.map(refusal))).filter((reason) => reason !== null)).toEqual([]);
});

it('returns ports of this range that differ', async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(range.from);
    expect(port).toBeLessThan(range.to);
  }
});
