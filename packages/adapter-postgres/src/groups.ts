interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly since: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets calls of one key go together that would only wait for each other: while one is under way the others gather, and
 * are made as one group after it. A call that finds nobody goes at once and alone. Where a group fails, those that
 * waited for it fail with it: nobody waits for a dead database twice.
 *
 * @param make - makes a group, and answers in its order; `waitedMs` is how long the first of them has waited
 */
export function inGroups<Call, Answer>(
  keyOf: (call: Call) => string,
  make: (group: readonly Call[], waitedMs: number) => Promise<readonly Answer[]>,
): (call: Call) => Promise<Answer> {
  /** Of each key with a group under way those that wait for it. */
  const gathered = new Map<string, Waiting<Call, Answer>[]>();

  async function makeAll(key: string, first: Waiting<Call, Answer>): Promise<void> {
    for (let group = [first]; group.length > 0; group = gathered.get(key) ?? []) {
      gathered.set(key, []);
      try {
        const waitedMs = performance.now() - (group[0]?.since ?? 0);
        const answers = await make(
          group.map(({ call }) => call),
          waitedMs,
        );
        for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
      } catch (error) {
        for (const { reject } of [...group, ...(gathered.get(key) ?? [])]) reject(error);
        gathered.set(key, []);
      }
    }
    gathered.delete(key);
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const key = keyOf(call);
      const waiting = { call, since: performance.now(), resolve, reject };
      const others = gathered.get(key);
      if (others === undefined) void makeAll(key, waiting);
      else others.push(waiting);
    });
}
