import {
  type CommandArguments,
  type CommandDescription,
  type CommandFlag,
  CommandUsageError,
} from './command.ts';

/** Arguments that were typed after the name of a command, before they are checked. */
export interface Typed {
  readonly positionals: readonly string[];
  /**
   * Values of each flag by its name. `true` for a flag without a value, `undefined` for a flag that was not
   * given.
   */
  readonly given: ReadonlyMap<string, readonly string[] | true | undefined>;
}

function valuesOf({ given }: Typed, flag: string): readonly string[] {
  const values = given.get(flag);
  return values === undefined || values === true ? [] : values;
}

/** Returns the values of a list flag, split at commas and spaces unless they are taken whole. */
const partsOf = (values: readonly string[], { whole = false }: Pick<CommandFlag, 'whole'> = {}): string[] =>
  values.flatMap((value) => (whole ? value : value.split(/[\s,]+/))).filter((part) => part !== '');

const quoted = (words: readonly string[]): string => words.map((word) => JSON.stringify(word)).join(' and ');

const inWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/**
 * Checks whether a text is a day or a time in ISO 8601, on a day that exists. `Date` would convert 30 February
 * to 2 March.
 */
function isTime(text: string): boolean {
  const day = /^(\d{4}-\d\d-\d\d)(?:[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.exec(text)?.[1];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  return new Date(day).toISOString().startsWith(day);
}

const rules = {
  'whole number': {
    fits: (value: string) => /^\d{1,9}$/.test(value),
    words: 'a whole number',
  },
  time: {
    fits: isTime,
    words: 'a time on a day that exists, such as 2030-01-31T00:00:00Z',
  },
} as const;

/** Describes what is wrong with the value of a flag, or returns `null`. */
function faultOf(flag: string, { oneOf, is }: Pick<CommandFlag, 'oneOf' | 'is'>, given: readonly string[]) {
  const unknown = oneOf === undefined ? [] : given.filter((value) => !oneOf.includes(value));
  if (oneOf !== undefined && unknown.length > 0)
    return `--${flag} must be ${inWords(oneOf)}, not ${quoted(unknown)}`;
  const unfit = is === undefined ? [] : given.filter((value) => !rules[is].fits(value));
  if (is !== undefined && unfit.length > 0)
    return `--${flag} must be ${rules[is].words}, not ${quoted(unfit)}`;
  return null;
}

function flagFaults({ flags = {} }: CommandDescription, typed: Typed): string[] {
  return Object.entries(flags).flatMap(([name, flag]) => {
    const given = valuesOf(typed, name);
    const parts = flag.multiple === true ? partsOf(given, flag) : given.slice(-1);
    if (flag.required === true && parts.every((part) => part.trim() === ''))
      return `--${name} is missing: ${flag.oneOf === undefined ? flag.about : inWords(flag.oneOf)}`;
    return faultOf(name, flag, parts) ?? [];
  });
}

/**
 * Checks that all given values of a flag are allowed. @throws CommandUsageError that names the unknown values
 */
export function checkKnown(flag: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.filter((value) => !known.includes(value));
  if (unknown.length === 0) return;
  const names = unknown.map((value) => JSON.stringify(value)).join(', no ');
  throw new CommandUsageError(`--${flag}: there is no ${names}; known are ${known.join(', ')}`);
}

/** Checks arguments against the description of the command. @throws CommandUsageError that names everything missing or wrong */
export function check(command: CommandDescription, typed: Typed): void {
  const missing = (command.positionals ?? [])
    .slice(typed.positionals.length)
    .map((name) => `<${name}> is missing`);
  const problems = [...missing, ...flagFaults(command, typed)];
  if (problems.length > 0) throw new CommandUsageError(problems);
}

/** Returns functions that read the values of the typed arguments, and check the form of a value. */
export function argumentsOf(
  { flags = {} }: CommandDescription,
  typed: Typed,
  json: boolean,
): CommandArguments {
  const one = (flag: string) => valuesOf(typed, flag).at(-1) ?? flags[flag]?.default;
  /**
   * Returns the value of a flag after checking it against `rule`. @throws CommandUsageError for a value that
   * breaks the rule
   */
  const fitting = (flag: string, rule: Pick<CommandFlag, 'oneOf' | 'is'>): string | undefined => {
    const given = one(flag);
    const fault = given === undefined ? null : faultOf(flag, rule, [given]);
    if (fault !== null) throw new CommandUsageError(fault);
    return given;
  };
  return {
    positionals: typed.positionals,
    text: one,
    required(flag) {
      const given = one(flag);
      if (given === undefined || given.trim() === '') throw new CommandUsageError(`--${flag} is missing`);
      return given;
    },
    integer(flag) {
      const given = fitting(flag, { is: 'whole number' });
      return given === undefined ? undefined : Number(given);
    },
    oneOf(flag, words) {
      const given = fitting(flag, { oneOf: words });
      return words.find((word) => word === given);
    },
    time(flag) {
      const given = fitting(flag, { is: 'time' });
      return given === undefined ? undefined : new Date(given);
    },
    list: (flag) => partsOf(valuesOf(typed, flag), flags[flag]),
    has: (flag) => typed.given.get(flag) === true,
    json,
  };
}
