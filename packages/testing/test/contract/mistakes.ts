import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { IdempotencyClaim, StoredAnswer } from '../../../core/src/ports/idempotency.ts';
import type { Storage } from '../../../core/src/ports/storage.ts';
import { sharingCounts } from '../../../core/test/support/shared-counts.ts';
import { storageContract } from '../../src/contract/index.ts';
import { memoryStorage } from '../../src/memory.ts';

/** Makes a storage wrong: what of it differs. */
export type Spoil = (storage: Storage) => Partial<Storage>;

/**
 * What a storage does wrong, the contract cases that have to notice, and how to make it wrong: mistakes of which one cannot
 * see in a case that it would notice, such as two steps where there should be one.
 */
export type Mistakes = Readonly<Record<string, readonly [cases: string | readonly string[], spoil: Spoil]>>;

type Ports = Required<Omit<Storage, 'open' | 'ping' | 'survey' | 'purge' | 'boundWaits' | 'close' | 'time'>>;
type CallOf<Port> = keyof Port & string;
type GivenTo<Call> = Call extends (given: infer Given, ...rest: never[]) => unknown ? Given : never;
type AnswerOf<Call> = Call extends (...given: never[]) => Promise<infer Answer> ? Answer : never;

/** A storage of which one noun differs in these calls. */
export const differing =
  <Noun extends keyof Storage>(noun: Noun, calls: (storage: Storage) => Partial<Storage[Noun]>): Spoil =>
  (storage) => ({ [noun]: { ...storage[noun], ...calls(storage) } });

/** Which call it is, and so what it takes and answers, is known to the callers. */
type AnyCall = (...given: unknown[]) => Promise<never>;
const replaced =
  (noun: keyof Storage, name: string, wrong: (call: AnyCall, storage: Storage) => unknown): Spoil =>
  (storage) => {
    const call: AnyCall = Reflect.get(storage[noun] ?? {}, name);
    return { [noun]: { ...storage[noun], [name]: wrong(call, storage) } };
  };

/** A storage of which one call is another one, which may make the right one. */
export const instead: <Noun extends keyof Ports, Name extends CallOf<Ports[Noun]>>(
  noun: Noun,
  name: Name,
  wrong: (call: Ports[Noun][Name], storage: Storage) => Ports[Noun][Name],
) => Spoil = replaced as never;

/** A storage that understands something else than what one call is given first. */
export const asked = <Noun extends keyof Ports, Name extends CallOf<Ports[Noun]>>(
  noun: Noun,
  name: Name,
  change: (given: GivenTo<Ports[Noun][Name]>) => GivenTo<Ports[Noun][Name]>,
): Spoil =>
  replaced(
    noun,
    name,
    (call) =>
      (given: GivenTo<Ports[Noun][Name]>, ...rest: unknown[]) =>
        call(change(given), ...rest),
  );

/** A storage that gives another answer than one call has. */
export const answered = <Noun extends keyof Ports, Name extends CallOf<Ports[Noun]>>(
  noun: Noun,
  name: Name,
  change: (
    answer: AnswerOf<Ports[Noun][Name]>,
    given: GivenTo<Ports[Noun][Name]>,
  ) => AnswerOf<Ports[Noun][Name]>,
): Spoil =>
  replaced(
    noun,
    name,
    (call) =>
      async (given: GivenTo<Ports[Noun][Name]>, ...rest: unknown[]) =>
        change(await call(given, ...rest), given),
  );

/** A request that may come with an `Idempotency-Key`. */
interface Keyed {
  readonly idempotency: (Omit<IdempotencyClaim, 'answer'> & { readonly answer?: StoredAnswer }) | null;
  readonly now: number;
}

/** Looks a key up, and later makes the change and its record: two transactions where there should be one. */
export const keyLookedUpFirst = (noun: 'transfers' | 'webhooks' | 'deliveries', name: string): Spoil =>
  replaced(noun, name, (call, storage) => async (request: Keyed): Promise<unknown> => {
    const { idempotency: claim, now } = request;
    const earlier = claim && (await storage.idempotency.find({ ...claim, now }));
    if (earlier !== null) return { outcome: 'replayed', answer: earlier.answer };
    await setImmediate();
    const unkeyed = { ...request, idempotency: null };
    const { answer, ...changing }: { readonly answer?: StoredAnswer } = await call(unkeyed);
    await recordKey(storage, request, answer);
    return { ...changing, answer };
  });

/** Stores the record of a key without what was asked for with it. */
export async function recordKey(
  { events }: Storage,
  { idempotency, now }: Keyed,
  answer?: StoredAnswer,
): Promise<void> {
  const recorded = answer ?? idempotency?.answer;
  if (idempotency === null || recorded === undefined) return;
  await events.publish([], { idempotency: { ...idempotency, answer: recorded }, now });
}

export function describeMistakes(mistakes: Mistakes): void {
  describe('the contract catches a storage that', () => {
    for (const [mistake, [cases, spoil]] of Object.entries(mistakes)) {
      test.each([cases].flat())(`${mistake}: %s`, async (name) => {
        await runCase(name, () => ({}));
        await expect(runCase(name, spoil)).rejects.toThrow();
      });
    }
  });
}

/** Runs one case on SQLite in memory, with what of it differs. */
async function runCase(name: string, spoil: Spoil): Promise<void> {
  const create = async () => {
    const storage = sharingCounts(memoryStorage());
    await storage.open();
    return { ...storage, ...spoil(storage) };
  };
  const cases = storageContract(create, { rateLimits: true });
  const found = cases.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`the contract has no case named ${name}`);
  await found.run();
}
