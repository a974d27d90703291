import type { Administration } from '@ostiary/core/admin';
import { oneLine, styled, widthOf } from './colour.ts';

/** The installation that commands work on, such as an `Ostiary`. */
export interface CommandSubject {
  readonly admin: Administration;
  close(): Promise<void>;
}

/** Error for a command that was typed wrongly: exit code 2. */
export class CommandUsageError extends Error {
  override readonly name = 'CommandUsageError';
  /** Problems with the typed command, one text each. */
  readonly problems: readonly string[];

  constructor(problem: string | readonly string[], options?: ErrorOptions) {
    const problems = typeof problem === 'string' ? [problem] : problem;
    super(problems.join('\n'), options);
    this.problems = problems;
  }
}

/** Error for an object that does not exist: exit code 3. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
  readonly code: `${string}_not_found`;

  constructor(code: `${string}_not_found`, message: string) {
    super(message);
    this.code = code;
  }
}

/** Output of a command: for people or, with `--json`, for programs. */
export interface CommandOutput {
  /**
   * Output for people. Control characters in it are escaped, because it may contain text from others. Only
   * colours of {@link styled} are kept, and only where the output has colours. An empty text writes nothing.
   */
  readonly text: string;
  readonly json: unknown;
  /** Remark for standard error, so that only `text` goes through a pipe. Left out with `--json`. */
  readonly note?: string;
  /**
   * Exit code of the process.
   * @defaultValue 0
   */
  readonly exitCode?: number;
}

/** Definition of a command's flag. */
export interface CommandFlag {
  readonly type: 'string' | 'boolean';
  /** True if the flag may be given several times, or once with values separated by commas or spaces. */
  readonly multiple?: boolean;
  /** True if a value may contain commas and spaces, such as a path: several values then need the flag several times. */
  readonly whole?: boolean;
  /** Description of the flag in the help. */
  readonly about: string;
  /** True if the command requires the flag. */
  readonly required?: boolean;
  /** Value of the flag if the command line does not contain it. */
  readonly default?: string;
  /** Values that the flag accepts; all if omitted. */
  readonly oneOf?: readonly string[];
  /** Form that the value of the flag must have, such as a time. */
  readonly is?: 'whole number' | 'time';
}

/** Checked command-line arguments of a command. */
export interface CommandArguments {
  readonly positionals: readonly string[];
  /** The last value of a flag, otherwise the flag's default; `undefined` if it has none. */
  text(flag: string): string | undefined;
  /** Returns the value of a required flag. @throws CommandUsageError if the flag is missing or empty */
  required(flag: string): string;
  /**
   * Value of a flag as a whole number, or `undefined`. @throws CommandUsageError if the value is no whole
   * number of at most nine digits
   */
  integer(flag: string): number | undefined;
  /**
   * Returns the value of a flag that must be one of `words`, or `undefined`.
   * @throws CommandUsageError
   */
  oneOf<Word extends string>(flag: string, words: readonly Word[]): Word | undefined;
  /** Value of a flag as a time, or `undefined`. @throws CommandUsageError if the value is no time */
  time(flag: string): Date | undefined;
  /** The values of a flag that may be repeated. They are split at commas and spaces, except those of a `whole` flag. */
  list(flag: string): string[];
  has(flag: string): boolean;
  /** True with the flag `--json`: the output is for programs. */
  readonly json: boolean;
}

/** Terminal that a command writes to while it runs. */
export interface CommandTerminal {
  /**
   * Shows the progress on standard error, if `--progress` was given, or if standard error is a terminal and
   * `--json` was not given.
   */
  progress(step: ProgressStep): void;
  /**
   * Writes output at once, for a command that keeps running: `text` for people, or a line of JSON with
   * `--json`.
   */
  write(output: Pick<CommandOutput, 'text' | 'json'>): void;
  /**
   * Signal that aborts when the command must end: by default after Ctrl-C or SIGTERM, or when standard output
   * fails, for example because its reader has closed the pipe.
   */
  readonly signal: AbortSignal;
}

/** Progress of a running command. */
export interface ProgressStep {
  /** Name of the step that the command is at, such as `copying tokens`. */
  readonly step: string;
  readonly done: number;
  /** Total amount of work of the step; `null` if unknown. */
  readonly of: number | null;
  /** Unit that follows the numbers. @defaultValue no unit */
  readonly unit?: string;
}

/** Context in which a command runs. */
export interface CommandContext<Subject extends CommandSubject> {
  readonly terminal: CommandTerminal;
  /**
   * Administrative calls of the installation. The audit log records them under the name that `--actor` gives,
   * by default the name of the user of this machine.
   */
  readonly admin: Administration;
  readonly subject: Subject;
}

/** Description of a command. */
export interface CommandDescription {
  /** Summary of the command in one line, for the help. */
  readonly about: string;
  /** Arguments of the example in the help, such as `kafe --name "Kafe Lakay"`. */
  readonly example?: string;
  readonly flags?: { readonly [flag: string]: CommandFlag };
  /** Names of the positional arguments, all of them required. */
  readonly positionals?: readonly string[];
  /**
   * Question to confirm before the command deletes or revokes something; `null` if it does not with these
   * arguments. `--yes` answers the question.
   */
  readonly question?: (args: CommandArguments) => string | null;
}

/** A command, such as `clients list`. */
export interface Command<Subject extends CommandSubject = CommandSubject> extends CommandDescription {
  readonly standalone?: false;
  run(context: CommandContext<Subject>, args: CommandArguments): Promise<CommandOutput>;
}

/** A command that runs without opening an installation and finds its own input. */
export interface StandaloneCommand extends CommandDescription {
  readonly standalone: true;
  run(args: CommandArguments, terminal: CommandTerminal): Promise<CommandOutput>;
}

/** Commands by their names of one or two words. */
export type Commands<Subject extends CommandSubject = CommandSubject> = {
  readonly [name: string]: Command<Subject> | StandaloneCommand;
};

/** Optional rules for the value of a flag. */
type FlagRules = Omit<CommandFlag, 'type' | 'multiple' | 'about'>;

/** Defines a command-line flag that takes one value. */
export const value = (about: string, rules: FlagRules = {}): CommandFlag => ({
  type: 'string',
  about,
  ...rules,
});
/** Defines a command-line flag that takes several values. */
export const values = (about: string, rules: FlagRules = {}): CommandFlag => ({
  ...value(about, rules),
  multiple: true,
});
/** Defines a command-line flag without a value. */
export const toggle = (about: string): CommandFlag => ({ type: 'boolean', about });

/** Flags of commands that print a list in pages. */
export const pageFlags = {
  after: value('value that the previous page printed'),
  limit: value('rows at most, up to 500', { is: 'whole number', default: '100' }),
} as const;

/** Removes `undefined` members from settings, because the administrative calls would treat them as values. */
export function present<Settings extends object>(
  settings: Settings,
): { [Name in keyof Settings]?: Exclude<Settings[Name], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}

/** Reads the paging arguments of a list command. */
export const pageOf = (args: CommandArguments) =>
  present({ after: args.text('after'), limit: args.integer('limit') });

/** Formats rows as aligned columns of text. A cell is always one line. */
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
