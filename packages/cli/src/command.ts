import type { Administration } from '@ostiary/core/admin';
import { oneLine, styled, widthOf } from './colour.ts';

/** The installation that commands work on, such as an `Ostiary`. */
export interface CommandSubject {
  readonly admin: Administration;
  close(): Promise<void>;
}

/** The command was typed wrongly: exit code 2. */
export class CommandUsageError extends Error {
  override readonly name = 'CommandUsageError';
  /** Each fault by itself, where there are several. */
  readonly problems: readonly string[];

  constructor(problem: string | readonly string[], options?: ErrorOptions) {
    const problems = typeof problem === 'string' ? [problem] : problem;
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

/** Output of a command: for people or, with `--json`, for programs. */
export interface CommandOutput {
  /**
   * May contain text of others as it is: characters that act on a terminal are shown and not done. Colours come from {@link styled} alone,
   * and are taken out where they are not wanted. Nothing is written for an empty text.
   */
  readonly text: string;
  readonly json: unknown;
  /** Said beside the text, on standard error, so that the text alone can be piped. */
  readonly note?: string;
  /**
   * Exit code of the process.
   * @defaultValue 0
   */
  readonly exitCode?: number;
}

/** A flag of a command. */
export interface CommandFlag {
  readonly type: 'string' | 'boolean';
  /** May be given several times, or once with commas. */
  readonly multiple?: boolean;
  /** Description in the help. */
  readonly about: string;
  /** The command cannot do without it. */
  readonly required?: boolean;
  /** Value if the flag is not given. */
  readonly default?: string;
  /** The only values that it takes. */
  readonly oneOf?: readonly string[];
  /** Required form of a value. */
  readonly is?: 'whole number' | 'time';
}

/** Arguments of a command. */
export interface CommandArguments {
  readonly positionals: readonly string[];
  /** The value of a flag, or `undefined`. */
  text(flag: string): string | undefined;
  /** @throws CommandUsageError when the flag is missing */
  required(flag: string): string;
  /** A whole number, or `undefined`. @throws CommandUsageError */
  integer(flag: string): number | undefined;
  /**
   * Returns the value of a flag that takes one of several words, or `undefined`.
   * @throws CommandUsageError
   */
  oneOf<Word extends string>(flag: string, words: readonly Word[]): Word | undefined;
  /** A time, or `undefined`. @throws CommandUsageError */
  time(flag: string): Date | undefined;
  /** The values of a flag that may be repeated, or separated by commas or spaces. */
  list(flag: string): string[];
  has(flag: string): boolean;
  /** True if the output is for programs. */
  readonly json: boolean;
}

/** Output of a command while it runs. */
export interface CommandTerminal {
  /** Shows people the progress: on standard error, at a terminal or with `--progress`. */
  progress(step: ProgressStep): void;
  /** Writes something at once, for a command that goes on: `text` for people, a line of JSON with `--json`. */
  write(output: Pick<CommandOutput, 'text' | 'json'>): void;
  /** Aborts when the command must end: after Ctrl-C, or when the reader of its output has gone. */
  readonly signal: AbortSignal;
}

/** Progress of a command. */
export interface ProgressStep {
  /** Current activity: `copying tokens`. */
  readonly step: string;
  readonly done: number;
  /** Total amount of work; `null` if unknown. */
  readonly of: number | null;
  /** Unit that is written behind the numbers. @defaultValue nothing */
  readonly unit?: string;
}

/** Environment in which a command runs. */
export interface CommandContext<Subject extends CommandSubject> {
  readonly terminal: CommandTerminal;
  /** In the name of who runs the command. */
  readonly admin: Administration;
  readonly subject: Subject;
}

/** Description of a command. */
export interface CommandDescription {
  /** Summary in one line. */
  readonly about: string;
  /** Arguments of the example in the help: `kafe --name "Kafe Lakay"`. */
  readonly example?: string;
  readonly flags?: { readonly [flag: string]: CommandFlag };
  /** Names of the arguments without flag, all of them required. */
  readonly positionals?: readonly string[];
  /** Question before the command ends or removes something. `--yes` confirms it. */
  readonly question?: (args: CommandArguments) => string;
}

/** A command, such as `clients list`. */
export interface Command<Subject extends CommandSubject = CommandSubject> extends CommandDescription {
  readonly standalone?: false;
  run(context: CommandContext<Subject>, args: CommandArguments): Promise<CommandOutput>;
}

/** A command for which nothing is opened: it finds what it works on by itself. */
export interface StandaloneCommand extends CommandDescription {
  readonly standalone: true;
  run(args: CommandArguments, terminal: CommandTerminal): Promise<CommandOutput>;
}

/** Commands by their names of one or two words. */
export type Commands<Subject extends CommandSubject = CommandSubject> = {
  readonly [name: string]: Command<Subject> | StandaloneCommand;
};

/** Further properties of a flag. */
type FlagRules = Omit<CommandFlag, 'type' | 'multiple' | 'about'>;

/** A flag with a value. */
export const value = (about: string, rules: FlagRules = {}): CommandFlag => ({
  type: 'string',
  about,
  ...rules,
});
/** A flag with values. */
export const values = (about: string, rules: FlagRules = {}): CommandFlag => ({
  ...value(about, rules),
  multiple: true,
});
/** A flag without a value. */
export const toggle = (about: string): CommandFlag => ({ type: 'boolean', about });

/** The flags of every list. */
export const pageFlags = {
  after: value('what the page before said to go on with'),
  limit: value('rows at most, up to 500', { is: 'whole number', default: '100' }),
} as const;

/** Returns the given values without `undefined` members, which the administration would take for a value. */
export function present<Settings extends object>(
  settings: Settings,
): { [Name in keyof Settings]?: Exclude<Settings[Name], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}

/** The arguments of every list. */
export const pageOf = (args: CommandArguments) =>
  present({ after: args.text('after'), limit: args.integer('limit') });

/** Text of a list of rows, with a note if there are more. */
export function listOf(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  next: string | null = null,
): string {
  const [head = '', ...lines] = table([heads, ...rows]).split('\n');
  const all = [styled('bold', head), ...lines].join('\n');
  return `${all}${next === null ? '' : `\n\nMore: --after ${next}`}`;
}

/** Writes aligned columns of text. A cell is always one line. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(oneLine));
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
