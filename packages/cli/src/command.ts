import type { Administration } from '@ostiary/core/admin';
import { oneLine, styled, widthOf } from './colour.ts';

/** What commands work on; an `Ostiary` is one. */
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

/** What a command writes: for people, or, with `--json`, for programs. */
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
   * What the process ends with.
   * @defaultValue 0
   */
  readonly exitCode?: number;
}

/** A flag of a command. */
export interface CommandFlag {
  readonly type: 'string' | 'boolean';
  /** May be given several times, or once with commas. */
  readonly multiple?: boolean;
  /** What the help says. */
  readonly about: string;
  /** The command cannot do without it. */
  readonly required?: boolean;
  /** What it is unless it is given. */
  readonly default?: string;
  /** The only values that it takes. */
  readonly oneOf?: readonly string[];
  /** What a value has to be. */
  readonly is?: 'whole number' | 'time';
}

/** What a command was called with. */
export interface CommandArguments {
  readonly positionals: readonly string[];
  /** The value of a flag, or `undefined`. */
  text(flag: string): string | undefined;
  /** @throws CommandUsageError when the flag is missing */
  required(flag: string): string;
  /** A whole number, or `undefined`. @throws CommandUsageError */
  integer(flag: string): number | undefined;
  /** One of several words, or `undefined`. @throws CommandUsageError */
  oneOf<Word extends string>(flag: string, words: readonly Word[]): Word | undefined;
  /** A time, or `undefined`. @throws CommandUsageError */
  time(flag: string): Date | undefined;
  /** The values of a flag that may be repeated, or separated by commas or spaces. */
  list(flag: string): string[];
  has(flag: string): boolean;
  /** Whether the output is for programs. */
  readonly json: boolean;
}

/** Where a command that takes its time says how it goes. */
export interface CommandTerminal {
  /** How far it is, for people: on standard error, at a terminal or with `--progress`. */
  progress(step: ProgressStep): void;
  /** Writes something at once, for a command that goes on: `text` for people, a line of JSON with `--json`. */
  write(output: Pick<CommandOutput, 'text' | 'json'>): void;
  /** Aborts when the command has to end: Ctrl-C, or nobody reads its output any more. */
  readonly signal: AbortSignal;
}

/** How far a command is. */
export interface ProgressStep {
  /** What it does: `copying tokens`. */
  readonly step: string;
  readonly done: number;
  /** How much there is to do; `null` where nobody knows. */
  readonly of: number | null;
  /** What is counted, behind the numbers. @defaultValue nothing */
  readonly unit?: string;
}

/** What a command runs with. */
export interface CommandContext<Subject extends CommandSubject> {
  readonly terminal: CommandTerminal;
  /** In the name of who runs the command. */
  readonly admin: Administration;
  readonly subject: Subject;
}

/** What a command says of itself. */
export interface CommandDescription {
  /** What it does, in one line. */
  readonly about: string;
  /** What stands behind its name in the example of its help: `kafe --name "Kafe Lakay"`. */
  readonly example?: string;
  readonly flags?: { readonly [flag: string]: CommandFlag };
  /** Names of the arguments without flag, all of them required. */
  readonly positionals?: readonly string[];
  /** What is asked before something is ended or removed; `--yes` answers it. */
  readonly question?: (args: CommandArguments) => string;
}

/** One command, such as `clients list`. */
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

/** What else is known of a flag. */
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

/** What was given: without the members that are `undefined`, which the administration takes for something else. */
export function present<Settings extends object>(
  settings: Settings,
): { [Name in keyof Settings]?: Exclude<Settings[Name], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never;
}

/** The arguments of every list. */
export const pageOf = (args: CommandArguments) =>
  present({ after: args.text('after'), limit: args.integer('limit') });

/** What a list of rows says, and that it goes on. */
export function listOf(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  next: string | null = null,
): string {
  const [head = '', ...lines] = table([heads, ...rows]).split('\n');
  const all = [styled('bold', head), ...lines].join('\n');
  return `${all}${next === null ? '' : `\n\nMore: --after ${next}`}`;
}

/** Columns of text, aligned. A cell is one line, whatever is in it. */
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
