import { Argument, CommanderError, Option, Command as Program } from 'commander';
import { argumentsOf, check, type Typed } from './arguments.ts';
import {
  type Command,
  type CommandArguments,
  type CommandDescription,
  type CommandFlag,
  type CommandSubject,
  type Commands,
  CommandUsageError,
  type StandaloneCommand,
} from './command.ts';
import {
  aboutFlag,
  aboutNoun,
  aliasesOf,
  closing,
  exampleOf,
  groupOf,
  groupTitles,
  helpStyle,
  termOf,
  usageOf,
} from './help.ts';

/** Values of the options that every command has. */
interface CommonFlags {
  readonly json: boolean;
  readonly yes: boolean;
  /** Name of the actor for the audit log. */
  readonly actor: string | undefined;
  readonly progress: boolean;
}

/** A parsed command line. */
export interface Line<Subject extends CommandSubject> {
  readonly name: string;
  readonly command: Command<Subject> | StandaloneCommand;
  readonly args: CommandArguments;
  readonly common: CommonFlags;
}

/** Name and version of the program, and functions that write its output and its errors. */
export interface Outlets {
  readonly program: string;
  readonly version: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Returns the value of a flag. A value that looks like another flag is refused, because the real value was
 * probably forgotten.
 * @throws CommandUsageError
 */
function meant(name: string, value: string, argv: readonly string[]): string {
  if (!/^-./.test(value) || argv.includes(`--${name}=${value}`)) return value;
  throw new CommandUsageError(
    `--${name} needs a value; one that begins with a dash goes behind an equals sign: --${name}=${value}`,
  );
}

function optionOf(name: string, flag: CommandFlag, argv: readonly string[]): Option {
  const option = new Option(termOf(name, flag), aboutFlag(flag));
  if (flag.required === true) option.helpGroup('Required:');
  if (flag.type === 'boolean') return option;
  return option.argParser((value, before: readonly string[] = []) => [...before, meant(name, value, argv)]);
}

/** Adds a command to the command-line program. Calls `found` if that command was typed. */
function add(
  parent: Program,
  word: string,
  command: CommandDescription,
  line: { readonly program: string; readonly name: string; readonly argv: readonly string[] },
  found: (typed: Typed) => void,
): void {
  const leaf = parent.command(word).description(command.about);
  if (line.name !== word) leaf.aliases(aliasesOf(word));
  leaf.usage(usageOf(command)).addHelpText('after', exampleOf(`${line.program} ${line.name}`, command));
  // Positionals are optional here, so that missing ones are reported together with missing flags.
  for (const name of command.positionals ?? []) leaf.addArgument(new Argument(`[${name}]`));
  // List required flags first: groups of the help appear in the order of their first flag.
  const flags = Object.entries(command.flags ?? {}).sort(
    ([, one], [, other]) => Number(other.required === true) - Number(one.required === true),
  );
  const options = flags.map(([name, flag]) => [name, optionOf(name, flag, line.argv)] as const);
  for (const [, option] of options) leaf.addOption(option);
  leaf.action(() => {
    const given = options.map(
      ([name, option]) => [name, leaf.getOptionValue(option.attributeName())] as const,
    );
    found({ positionals: leaf.args, given: new Map(given) });
  });
}

/** Makes the command-line program of the parser library, without commands. */
function bare({ program, version, out, err }: Outlets, argv: readonly string[]): Program {
  const actor = new Option('--actor <name>', 'who is named in the audit log (the user of this machine)');
  return new Program(program)
    .exitOverride()
    .configureOutput({
      writeOut: out,
      writeErr: err,
      // The caller reports errors itself.
      outputError: () => undefined,
      // Always true, because `writerTo` removes colours where they are not wanted.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .configureHelp({
      ...helpStyle,
      showGlobalOptions: true,
      // Show positionals as required: `add` declares them as optional.
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map((each) => `<${each.name()}>`)].join(' '),
    })
    .usage('<command> [options]')
    .helpCommand(false)
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'list commands, or describe a command')
    .option('--json', 'print JSON, for programs')
    .option('--yes', 'do not ask for confirmation')
    .addOption(actor.argParser((name) => meant('actor', name, argv)))
    .option('--progress', 'report progress even without a terminal')
    .addHelpText('after', closing(program));
}

/**
 * Returns the arguments without help flags if they name an unknown command. The parser library reports an
 * unknown command only if no help is requested.
 */
function askedFor(commands: Commands<never>, typed: readonly string[]): readonly string[] {
  const isHelp = (word: string) => word === '--help' || word === '-h';
  // `help keys issue` means `keys issue --help`.
  const argv = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
  // The name behind `--actor` is no command.
  const [noun, verb] = argv.filter((word, at) => !word.startsWith('-') && argv[at - 1] !== '--actor');
  const names = Object.keys(commands);
  const isKnown =
    noun === undefined ||
    names.includes(noun) ||
    (verb === undefined
      ? names.some((name) => name.startsWith(`${noun} `))
      : names.some((name) => isCalled(name, noun, verb)));
  return isKnown ? argv : argv.filter((word) => !isHelp(word));
}

/** Checks whether a command has the two given words as its name, or an alias as the second word. */
function isCalled(name: string, noun: string, verb: string): boolean {
  const [first, second = ''] = name.split(' ');
  return first === noun && [second, ...aliasesOf(second)].includes(verb);
}

/** Converts an error of the parser library to a usage error in one line. */
function usageError(error: CommanderError): CommandUsageError {
  const [problem = '', suggestion] = error.message.replace(/^error: /, '').split(/\n\((?=Did you mean)/);
  return new CommandUsageError(
    suggestion === undefined ? problem : `${problem}. ${suggestion.replace(/\)$/, '')}`,
  );
}

/**
 * Parses the command line. Writes the help or the version at once if they are requested.
 * @returns the exit code if the help or the version was written; otherwise the parsed line
 * @throws CommandUsageError
 */
export function read<Subject extends CommandSubject>(
  commands: Commands<Subject>,
  typed: readonly string[],
  outlets: Outlets,
): Line<Subject> | number {
  const argv = askedFor(commands, typed);
  const root = bare(outlets, argv);
  let line: Line<Subject> | undefined;
  // The help shows groups in the order of their first commands.
  const order = (name: string) => groupTitles.indexOf(groupOf(name.split(' ')[0] ?? ''));
  const ordered = Object.entries(commands).sort(([one], [other]) => order(one) - order(other));
  for (const [name, command] of ordered) {
    const words = name.split(' ');
    const word = words.pop() ?? name;
    let parent = root;
    for (const noun of words)
      parent = parent.commands.find((each) => each.name() === noun) ?? parent.command(noun);
    add(parent, word, command, { program: outlets.program, name, argv }, (given) => {
      const { json = false, yes = false, progress = false, actor } = root.opts();
      const common = { json, yes, progress, actor };
      check(command, given);
      line = { name, command, args: argumentsOf(command, given, json), common };
    });
  }
  for (const noun of root.commands.filter(({ commands }) => commands.length > 0)) {
    const about = aboutNoun(noun.name());
    const verbs = noun.commands.map((verb) => verb.name()).join(', ');
    noun
      .usage('<command> [options]')
      .description(about)
      .summary(about === '' ? verbs : `${about}: ${verbs}`)
      .helpCommand(false);
  }
  for (const each of root.commands) each.helpGroup(groupOf(each.name()));
  try {
    root.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') return 2;
    throw usageError(error);
  }
  return line ?? 2;
}
