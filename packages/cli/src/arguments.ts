import { type ParseArgsConfig, parseArgs } from 'node:util';
import {
  type Command,
  type CommandArguments,
  type CommandDescription,
  type CommandSubject,
  type Commands,
  CommandUsageError,
  type StandaloneCommand,
} from './command.ts';

/** Flags that every command has. */
export interface CommonFlags {
  readonly json: boolean;
  readonly yes: boolean;
  readonly help: boolean;
  /** Who is named in the audit log. */
  readonly actor: string | undefined;
}

/** The command that is meant, by its longest name, and the arguments behind it. */
export function findCommand<Subject extends CommandSubject>(
  commands: Commands<Subject>,
  argv: readonly string[],
): {
  readonly name: string;
  readonly command: Command<Subject> | StandaloneCommand;
  readonly rest: readonly string[];
} | null {
  for (const words of [2, 1]) {
    const name = argv.slice(0, words).join(' ');
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command !== undefined) return { name, command, rest: argv.slice(words) };
  }
  return null;
}

type Flags = NonNullable<ParseArgsConfig['options']>;

/** Flags and arguments as they were typed. @throws CommandUsageError in words of ours: Node's are about `parseArgs` */
function parsedBy(options: Flags, argv: readonly string[]) {
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const flag = Object.hasOwn(options, name) ? options[name] : undefined;
    if (flag === undefined) throw new CommandUsageError(`there is no flag ${rawName} here`);
    if (flag.type === 'boolean' && value !== undefined)
      throw new CommandUsageError(`${rawName} takes no value`);
    // What looks like the next flag was hardly meant.
    if (flag.type === 'string' && (value === undefined || (!inlineValue && /^-./.test(value))))
      throw new CommandUsageError(
        `${rawName} needs a value; one that begins with a dash goes behind an equals sign`,
      );
  }
  return { values, positionals };
}

/** Reads what stands behind a command's name. @throws CommandUsageError */
export function readArguments(
  command: CommandDescription,
  argv: readonly string[],
): { readonly args: CommandArguments; readonly common: CommonFlags } {
  const options: Flags = {
    ...Object.fromEntries(
      Object.entries(command.flags ?? {}).map(([name, { type, multiple = false }]) => [
        name,
        { type, multiple },
      ]),
    ),
    json: { type: 'boolean' },
    yes: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
    actor: { type: 'string' },
  };
  const { values, positionals } = parsedBy(options, argv);
  const one = (flag: string): string | undefined => {
    const given = values[flag];
    return typeof given === 'string' ? given : undefined;
  };
  const common = {
    json: values.json === true,
    yes: values.yes === true,
    help: values.help === true,
    actor: one('actor'),
  };
  const expected = command.positionals ?? [];
  if (!common.help && positionals.length !== expected.length) {
    throw new CommandUsageError(
      expected.length === 0
        ? `unexpected argument ${JSON.stringify(positionals[0])}`
        : `expected ${expected.map((name) => `<${name}>`).join(' ')}`,
    );
  }
  return { common, args: argumentsOf(positionals, values, one) };
}

function argumentsOf(
  positionals: readonly string[],
  values: ReturnType<typeof parseArgs>['values'],
  one: (flag: string) => string | undefined,
): CommandArguments {
  return {
    positionals,
    text: one,
    required(flag) {
      const given = one(flag);
      if (given === undefined || given.trim() === '') throw new CommandUsageError(`--${flag} is missing`);
      return given;
    },
    integer(flag) {
      const given = one(flag);
      if (given === undefined) return undefined;
      if (!/^\d{1,9}$/.test(given)) throw new CommandUsageError(`--${flag} must be a whole number`);
      return Number(given);
    },
    oneOf(flag, words) {
      const given = one(flag);
      const word = words.find((candidate) => candidate === given);
      if (given !== undefined && word === undefined)
        throw new CommandUsageError(`--${flag} must be ${words.join(' or ')}`);
      return word;
    },
    time(flag) {
      const given = one(flag);
      if (given === undefined) return undefined;
      const time = new Date(given);
      if (Number.isNaN(time.getTime()))
        throw new CommandUsageError(`--${flag} must be a time such as 2030-01-31T00:00:00Z`);
      return time;
    },
    list(flag) {
      const given = values[flag];
      return (Array.isArray(given) ? given : [])
        .flatMap((entry) => String(entry).split(/[\s,]+/))
        .filter((entry) => entry !== '');
    },
    has: (flag) => values[flag] === true,
    json: values.json === true,
  };
}
