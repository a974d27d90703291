import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ApiKeyError, ClientError, PartnerNameError } from '@ostiary/core';
import { createLogger } from '../http/logging.ts';
import { type Installation, openInstallation } from '../installation.ts';
import { LedgerError } from '../ledger/ledger.ts';
import { AccountError } from '../users/accounts.ts';
import { configForCommands } from './find-installation.ts';

/** The command was typed wrongly. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What a command writes, for people or, with `--json`, for programs. */
export interface Output {
  readonly text: string;
  readonly json: unknown;
  /** Said beside the text, on standard error, so that the text alone can be piped. */
  readonly note?: string;
}

/** The flags of one command, read by `node:util`. */
export type Flags = NonNullable<ParseArgsConfig['options']>;

/** A flag with a value. */
export const text = { type: 'string' } as const;

/** What a command was called with. */
export interface Arguments {
  /** The value of a flag, or `undefined`. */
  text(flag: string): string | undefined;
  /** @throws {@link UsageError} when the flag is missing */
  required(flag: string): string;
  /** A whole number, or `undefined`. @throws {@link UsageError} */
  integer(flag: string): number | undefined;
  /** One of several words, or `undefined`. @throws {@link UsageError} */
  oneOf<Word extends string>(flag: string, words: readonly Word[]): Word | undefined;
  /** The values of a flag that may be repeated, or separated by commas or spaces. */
  list(flag: string): string[];
  has(flag: string): boolean;
  readonly positionals: readonly string[];
}

/** One command of a program. */
export interface Command {
  readonly flags: Flags;
  /** Names of the arguments without flag, all of them required. */
  readonly positionals: readonly string[];
  run(installation: Installation, args: Arguments): Promise<Output>;
}

function readArguments(command: Command, argv: readonly string[]): Arguments & { readonly json: boolean } {
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({
      args: [...argv],
      options: { ...command.flags, json: { type: 'boolean' } },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'wrong arguments',
    );
  }
  const { values, positionals } = parsed;
  if (positionals.length !== command.positionals.length) {
    throw new UsageError(
      command.positionals.length === 0
        ? `unexpected argument ${JSON.stringify(positionals[0])}`
        : `expected ${command.positionals.map((name) => `<${name}>`).join(' ')}`,
    );
  }
  const one = (flag: string): string | undefined => {
    const value = values[flag];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    positionals,
    json: values.json === true,
    text: one,
    required(flag) {
      const value = one(flag);
      if (value === undefined || value.trim() === '') throw new UsageError(`--${flag} is missing`);
      return value;
    },
    integer(flag) {
      const value = one(flag);
      if (value === undefined) return undefined;
      if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${flag} must be a whole number`);
      return Number(value);
    },
    oneOf(flag, words) {
      const value = one(flag);
      const word = words.find((candidate) => candidate === value);
      if (value !== undefined && word === undefined)
        throw new UsageError(`--${flag} must be ${words.join(' or ')}`);
      return word;
    },
    list(flag) {
      const value = values[flag];
      return (Array.isArray(value) ? value : [])
        .flatMap((entry) => String(entry).split(/[\s,]+/))
        .filter((entry) => entry !== '');
    },
    has: (flag) => values[flag] === true,
  };
}

/**
 * Runs a program with commands on the installation that the environment names, in a process of its own: the server
 * may run at the same time. Exit codes: 0 done, 1 failed, 2 typed wrongly.
 */
export async function runProgram(
  commands: Readonly<Record<string, Command>>,
  usage: string,
  argv: readonly string[],
): Promise<number> {
  const [name, ...rest] = argv;
  if (
    name === undefined ||
    name === 'help' ||
    rest.includes('--help') ||
    name === '--help' ||
    name === '-h'
  ) {
    (name === undefined ? process.stderr : process.stdout).write(`${usage}\n`);
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return runCommand(command ?? `there is no command ${JSON.stringify(name)}`, rest);
}

/** Runs a program that is one command. */
export async function runSingle(command: Command, usage: string, argv: readonly string[]): Promise<number> {
  const help = argv.includes('--help') || argv.includes('-h');
  if (!help && argv.length > 0) return runCommand(command, argv);
  (help ? process.stdout : process.stderr).write(`${usage}\n`);
  return help ? 0 : 2;
}

async function runCommand(command: Command | string, argv: readonly string[]): Promise<number> {
  let installation: Installation | undefined;
  try {
    if (typeof command === 'string') throw new UsageError(command);
    const args = readArguments(command, argv);
    installation = await openInstallation(await configForCommands(process.env), createLogger('silent'));
    const output = await command.run(installation, args);
    process.stdout.write(`${args.json ? JSON.stringify(output.json, null, 2) : output.text}\n`);
    if (!args.json && output.note !== undefined) process.stderr.write(`${output.note}\n`);
    return 0;
  } catch (error) {
    const wrongInput =
      error instanceof UsageError ||
      error instanceof AccountError ||
      error instanceof LedgerError ||
      error instanceof ApiKeyError ||
      error instanceof ClientError ||
      error instanceof PartnerNameError ||
      // A setting that Ostiary's administration refuses.
      (error instanceof TypeError && installation !== undefined);
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}${wrongInput ? '\nRun with --help to see what can be given.' : ''}\n`);
    return wrongInput ? 2 : 1;
  } finally {
    await installation?.close();
  }
}

/** Columns of text, aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
