import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { setImmediate } from 'node:timers/promises';
import { clientCommands } from './clients.ts';
import { type Outlet, oneLine, writerTo } from './colour.ts';
import {
  type CommandOutput,
  type CommandSubject,
  type Commands,
  type CommandTerminal,
  CommandUsageError,
} from './command.ts';
import { completionCommand } from './completion.ts';
import { eventCommands } from './events.ts';
import { exportCommands } from './export/command.ts';
import { failureOf, failureText } from './failure.ts';
import { importCommands } from './import/command.ts';
import { keyCommands } from './keys.ts';
import { partnerCommands } from './partners.ts';
import { paymentCommands } from './payments.ts';
import { portalCommands } from './portal.ts';
import { type Line, read } from './program.ts';
import { progressOn } from './progress.ts';
import { requestCommands } from './requests.ts';
import { signingKeyCommands } from './signing-keys.ts';
import { outliveStandardOutput } from './standard-output.ts';
import { storageCommands } from './storage.ts';
import { tailCommands } from './tail.ts';
import { cliVersion } from './version.ts';
import { webhookCommands } from './webhooks.ts';

/** Commands that every installation has. */
export const administrationCommands: Commands = {
  ...partnerCommands,
  ...keyCommands,
  ...portalCommands,
  ...clientCommands,
  ...signingKeyCommands,
  ...webhookCommands,
  ...eventCommands,
  ...paymentCommands,
  ...requestCommands,
  ...tailCommands,
  ...exportCommands,
  ...storageCommands,
  ...importCommands,
};

/** Options of {@link runCommandLine}. */
export interface CommandLineOptions<Subject extends CommandSubject> {
  /**
   * Opens the installation that commands work on, such as `() => createOstiary(options)`. It is closed when
   * the command ends.
   */
  readonly open: () => Promise<Subject>;
  /**
   * Commands of the host application, in addition to the built-in ones. A command of the same name replaces a
   * built-in one.
   */
  readonly commands?: Commands<Subject>;
  /** Name of the program. @defaultValue `"ostiary"` */
  readonly program?: string;
  /** Version for `--version`. @defaultValue the version of this package */
  readonly version?: string;
  /** Command-line arguments. @defaultValue those of the process */
  readonly argv?: readonly string[];
  /** Standard output of commands. Has colours if it is a terminal and `NO_COLOR` is not set. */
  readonly stdout?: Outlet;
  readonly stderr?: Outlet;
  /**
   * Asks for confirmation before a command revokes or deletes something.
   * @defaultValue asks at the terminal; without a terminal, the command is refused unless `--yes` is given
   */
  readonly confirm?: (question: string) => Promise<boolean>;
  /**
   * Checks whether an error means that the user's input was wrong: its message is shown, and the exit code is
   * 2.
   */
  readonly isUsageError?: (error: unknown) => boolean;
  /** Checks whether an error means that an object does not exist: the exit code is 3. */
  readonly isNotFound?: (error: unknown) => boolean;
  /**
   * Signal that stops a command which keeps running, such as `tail`.
   * @defaultValue aborts after Ctrl-C or SIGTERM, or when standard output fails, for example because its
   * reader has closed the pipe
   */
  readonly signal?: AbortSignal;
}

async function confirmAtTerminal(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CommandUsageError('this command asks before it acts: run it at a terminal, or with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${oneLine(question)} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

function userOfMachine(): string {
  try {
    return userInfo().username;
  } catch {
    // The user id has no name, as in some containers.
    return 'command line';
  }
}

/**
 * Returns a signal that aborts when the process gets SIGINT or SIGTERM, or when its standard output fails,
 * for example because the program that reads it has ended.
 */
function endOfProcess(): AbortSignal {
  const ending = new AbortController();
  const end = () => ending.abort();
  // `once`: a second signal ends the process, as it does by default.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end);
  process.stdout.once('error', end);
  return ending.signal;
}

/** Makes the terminal that a command writes to while it runs. */
function terminalOf(
  {
    stdout = process.stdout,
    stderr = process.stderr,
    signal,
  }: Pick<CommandLineOptions<never>, 'stdout' | 'stderr' | 'signal'>,
  { json, progress: isAsked }: Line<never>['common'],
): CommandTerminal & { clear(): void } {
  const isTerminal = stderr.isTTY === true;
  const progress = progressOn({
    write: (text) => void stderr.write(text),
    isTerminal,
    now: () => performance.now(),
  });
  const out = writerTo(stdout);
  let ends = signal;
  return {
    progress(step) {
      if (isAsked || (isTerminal && !json)) progress.tell(step);
    },
    write(output) {
      progress.clear();
      out(`${json ? JSON.stringify(output.json) : output.text}\n`);
    },
    // Install the signal handlers on demand only, so that Ctrl-C ends every other command at once.
    get signal() {
      ends ??= endOfProcess();
      return ends;
    },
    clear: progress.clear,
  };
}

/**
 * Runs one command in this process; servers may run in others at the same time. Returns the exit code:
 * 0 done, 1 failed or not confirmed, 2 wrong arguments, 3 not found.
 * @example
 * ```ts
 * import { createOstiary } from '@ostiary/core';
 * import { runCommandLine } from '@ostiary/cli';
 * import { options } from './ostiary-options.ts';
 *
 * process.exitCode = await runCommandLine({ open: () => createOstiary(options) });
 * ```
 */
export async function runCommandLine<Subject extends CommandSubject>(
  options: CommandLineOptions<Subject>,
): Promise<number> {
  const lostOutput = outliveStandardOutput();
  const exitCode = await runCommand(options);
  // A stream reports its errors after the call that wrote.
  await setImmediate();
  const error = lostOutput();
  if (error === null || exitCode !== 0) return exitCode;
  const problem = `standard output could not be written (${error.code}); the command was run`;
  const failure = { exitCode: 1, code: 'output_lost', problems: [problem], remedy: [] } as const;
  const { argv = process.argv, stderr = process.stderr } = options;
  writerTo(stderr)(failureText(failure, argv.includes('--json')));
  return failure.exitCode;
}

/** Runs a command and returns its exit code. */
async function runCommand<Subject extends CommandSubject>(
  options: CommandLineOptions<Subject>,
): Promise<number> {
  const { open, program = 'ostiary', version = cliVersion, argv = process.argv.slice(2) } = options;
  const { confirm = confirmAtTerminal, isUsageError = () => false, isNotFound = () => false } = options;
  const out = writerTo(options.stdout ?? process.stdout);
  const err = writerTo(options.stderr ?? process.stderr);
  const commands: Commands<Subject> = {
    ...administrationCommands,
    completion: completionCommand(program, () => commands),
    ...options.commands,
  };
  const isJson = argv.includes('--json');
  let subject: Subject | null = null;
  let clear = () => {};
  try {
    // With `--json`, help that accompanies an error is not printed: programs only get the error.
    const line = read(commands, argv, { program, version, out, err: isJson ? () => undefined : err });
    if (line === 2 && isJson) throw new CommandUsageError('a command is missing');
    if (typeof line === 'number') return line;
    const { command, args, common } = line;
    const question = command.question?.(args) ?? null;
    if (question !== null && !common.yes && !(await confirm(question))) {
      const failure = {
        exitCode: 1,
        code: 'not_confirmed',
        problems: ['Nothing was done.'],
        remedy: [],
      } as const;
      err(failureText(failure, isJson));
      return failure.exitCode;
    }
    const terminal = terminalOf(options, common);
    clear = terminal.clear;
    let output: CommandOutput;
    if (command.standalone === true) output = await command.run(args, terminal);
    else {
      subject = await open();
      const admin = subject.admin.as(common.actor ?? userOfMachine());
      output = await command.run({ admin, subject, terminal }, args);
    }
    clear();
    if (common.json && output.json !== undefined) out(`${JSON.stringify(output.json, null, 2)}\n`);
    if (!common.json && output.text !== '') out(`${output.text}\n`);
    if (!common.json && output.note !== undefined) err(`${output.note}\n`);
    return output.exitCode ?? 0;
  } catch (error) {
    clear();
    const context = { program, commands, argv, isOpen: subject !== null, isUsageError, isNotFound };
    const failure = failureOf(error, context);
    err(failureText(failure, isJson));
    return failure.exitCode;
  } finally {
    await subject?.close();
  }
}
