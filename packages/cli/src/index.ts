import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { ApiKeyError, ClientError, PartnerNameError, WebhookError } from '@ostiary/core/admin';
import { findCommand, readArguments } from './arguments.ts';
import { clientCommands } from './clients.ts';
import { type CommandOutput, type CommandSubject, type Commands, CommandUsageError } from './command.ts';
import { details, overview } from './help.ts';
import { importCommands } from './import/command.ts';
import { keyCommands } from './keys.ts';
import { partnerCommands } from './partners.ts';
import { signingKeyCommands } from './signing-keys.ts';
import { storageCommands } from './storage.ts';
import { webhookCommands } from './webhooks.ts';

export type {
  Command,
  CommandArguments,
  CommandContext,
  CommandDescription,
  CommandFlag,
  CommandOutput,
  CommandSubject,
  Commands,
  StandaloneCommand,
} from './command.ts';
export { CommandUsageError, listOf, present, table, toggle, value, values } from './command.ts';
export { readPassword } from './password.ts';

/** The commands of every installation. */
export const administrationCommands: Commands = {
  ...partnerCommands,
  ...keyCommands,
  ...clientCommands,
  ...signingKeyCommands,
  ...webhookCommands,
  ...storageCommands,
  ...importCommands,
};

/** What a command line needs. */
export interface CommandLineOptions<Subject extends CommandSubject> {
  /** Opens what commands work on: `() => createOstiary(options)`. Closed at the end. */
  readonly open: () => Promise<Subject>;
  /** Commands of your own, beside or instead of those that are there. */
  readonly commands?: Commands<Subject>;
  /** What people type to run it. @defaultValue `"ostiary"` */
  readonly program?: string;
  /** @defaultValue those of the process */
  readonly argv?: readonly string[];
  readonly stdout?: { write(text: string): unknown };
  readonly stderr?: { write(text: string): unknown };
  /**
   * Asks before something is ended or removed.
   * @defaultValue asks at the terminal; where there is none the command is refused without `--yes`
   */
  readonly confirm?: (question: string) => Promise<boolean>;
  /** Errors that mean wrong input: their message is shown, and the exit code is 2. */
  readonly isUsageError?: (error: unknown) => boolean;
}

async function confirmAtTerminal(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CommandUsageError('this command asks before it acts: run it at a terminal, or with --yes');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}

function userOfMachine(): string {
  try {
    return userInfo().username;
  } catch {
    // An id without a name, as in some containers.
    return 'command line';
  }
}

function isWrongInput(error: unknown): boolean {
  return [CommandUsageError, ApiKeyError, ClientError, PartnerNameError, WebhookError].some(
    (type) => error instanceof type,
  );
}

/**
 * Runs one administrative command in a process of its own; servers may run at the same time. Answers the exit code:
 * 0 done, 1 failed, 2 typed wrongly.
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
  const { open, program = 'ostiary', argv = process.argv.slice(2), confirm = confirmAtTerminal } = options;
  const { stdout = process.stdout, stderr = process.stderr } = options;
  const commands: Commands<Subject> = { ...administrationCommands, ...options.commands };
  if (argv.length === 0 || /^(?:help|--help|-h)$/.test(argv[0] ?? '')) {
    (argv.length === 0 ? stderr : stdout).write(`${overview(program, commands)}\n`);
    return argv.length === 0 ? 2 : 0;
  }

  let subject: Subject | null = null;
  try {
    const found = findCommand(commands, argv);
    if (found === null) throw new CommandUsageError(`there is no command ${JSON.stringify(argv.join(' '))}`);
    const { name, command, rest } = found;
    const { args, common } = readArguments(command, rest);
    if (common.help) {
      stdout.write(`${details(program, name, command)}\n`);
      return 0;
    }
    if (command.question !== undefined && !common.yes && !(await confirm(command.question(args)))) {
      stderr.write('Nothing was done.\n');
      return 1;
    }
    let output: CommandOutput;
    if (command.standalone === true) output = await command.run(args);
    else {
      subject = await open();
      const admin = subject.admin.as(common.actor ?? userOfMachine());
      output = await command.run({ admin, subject }, args);
    }
    stdout.write(`${common.json ? JSON.stringify(output.json, null, 2) : output.text}\n`);
    if (!common.json && output.note !== undefined) stderr.write(`${output.note}\n`);
    return output.exitCode ?? 0;
  } catch (error) {
    const wrongInput =
      isWrongInput(error) ||
      options.isUsageError?.(error) === true ||
      // A setting that the administration refuses.
      (error instanceof TypeError && subject !== null);
    const message = error instanceof Error ? error.message : String(error);
    stderr.write(`${message}${wrongInput ? `\nRun ${program} help to see what can be given.` : ''}\n`);
    return wrongInput ? 2 : 1;
  } finally {
    await subject?.close();
  }
}
