interface Waiting<Call, Answer> {
  readonly call: Call;
  readonly since: number;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** The most calls that go together: a statement stays small, and nobody waits for thousands of others. */
const mostTogether = 256;

/** How calls of one kind go together. */
export interface Grouping<Call, Answer> {
  /** Only calls of one key go together; those of others are under way beside them. @defaultValue all of them */
  readonly keyOf?: (call: Call) => string;
  /**
   * Makes a group, and answers in its order.
   * @param waitedMs - how long the first of them has waited
   * @param isShared - whether others wait for the end of it, so that it must not wait long for anybody
   */
  readonly make: (group: readonly Call[], waitedMs: number, isShared: boolean) => Promise<readonly Answer[]>;
  /**
   * Whether an error may be the fault of a single call, or of what it waits for: then each is made again, alone and beside the
   * others. @defaultValue never
   */
  readonly isOfOne?: (error: unknown) => boolean;
}

/**
 * Lets calls go together that would only wait for each other: while one is under way the others gather, and are made as
 * one group after it. A call that finds nobody goes at once and alone, so that a quiet process waits for nothing.
 * Where a group fails for everybody, those that waited for it fail with it: nobody waits for a dead database twice.
 */
export function inGroups<Call, Answer>({
  keyOf = () => '',
  make,
  isOfOne = () => false,
}: Grouping<Call, Answer>): (call: Call) => Promise<Answer> {
  /** Of each key with a group under way those that wait for it. */
  const gathered = new Map<string, Waiting<Call, Answer>[]>();

  async function makeAlone({ call, since, resolve, reject }: Waiting<Call, Answer>): Promise<void> {
    try {
      for (const answer of await make([call], performance.now() - since, false)) resolve(answer);
    } catch (error) {
      reject(error);
    }
  }

  async function makeAll(key: string, first: Waiting<Call, Answer>): Promise<void> {
    const line = [first];
    gathered.set(key, line);
    while (line.length > 0) {
      const group = line.splice(0, mostTogether);
      try {
        const waitedMs = performance.now() - (group[0]?.since ?? 0);
        const answers = await make(
          group.map(({ call }) => call),
          waitedMs,
          true,
        );
        for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
      } catch (error) {
        if (isOfOne(error)) for (const one of group) void makeAlone(one);
        else for (const { reject } of [...group, ...line.splice(0)]) reject(error);
      }
    }
    gathered.delete(key);
  }

  return (call) =>
    new Promise((resolve, reject) => {
      const key = keyOf(call);
      const waiting = { call, since: performance.now(), resolve, reject };
      const line = gathered.get(key);
      if (line === undefined) void makeAll(key, waiting);
      else line.push(waiting);
    });
}
