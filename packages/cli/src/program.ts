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
import { aboutFlag, aboutNoun, closing, exampleOf, helpStyle, termOf, usageOf } from './help.ts';

/** Options that every command has. */
export interface CommonFlags {
  readonly json: boolean;
  readonly yes: boolean;
  /** Actor in the audit log. */
  readonly actor: string | undefined;
  readonly progress: boolean;
}

/** A line that was understood. */
export interface Line<Subject extends CommandSubject> {
  readonly name: string;
  readonly command: Command<Subject> | StandaloneCommand;
  readonly args: CommandArguments;
  readonly common: CommonFlags;
}

/** Output of the help. */
export interface Outlets {
  readonly program: string;
  readonly version: string;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/**
 * Checks the value of a flag. A value that looks like another flag was hardly meant.
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

/** Adds a command to the program; `found` is called when it is the one that was typed. */
function add(
  parent: Program,
  word: string,
  command: CommandDescription,
  line: { readonly program: string; readonly name: string; readonly argv: readonly string[] },
  found: (typed: Typed) => void,
): void {
  const leaf = parent.command(word).description(command.about);
  leaf.usage(usageOf(command)).addHelpText('after', exampleOf(`${line.program} ${line.name}`, command));
  // Missing flags are reported together with missing arguments.
  for (const name of command.positionals ?? []) leaf.addArgument(new Argument(`[${name}]`));
  // Groups of the help come in the order of their first flags: what is required goes first.
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

/** The program of the library, without commands. */
function bare({ program, version, out, err }: Outlets, argv: readonly string[]): Program {
  const actor = new Option('--actor <name>', 'who is named in the audit log (the user of this machine)');
  return new Program(program)
    .exitOverride()
    .configureOutput({
      writeOut: out,
      writeErr: err,
      // The caller reports errors in its own way.
      outputError: () => undefined,
      // Colours are taken out where they are written.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    })
    .configureHelp({
      ...helpStyle,
      showGlobalOptions: true,
      // Positionals are declared as optional; see `add`.
      subcommandTerm: (command) =>
        [command.name(), ...command.registeredArguments.map((each) => `<${each.name()}>`)].join(' '),
    })
    .usage('<command> [options]')
    .helpCommand(false)
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'say what there is, or what a command takes')
    .option('--json', 'print JSON, for programs')
    .option('--yes', 'do not ask before something is ended or removed')
    .addOption(actor.argParser((name) => meant('actor', name, argv)))
    .option('--progress', 'say how far it is, also where no terminal is')
    .addHelpText('after', closing(program));
}

/** Help of something that there is not is an error, which the library finds only where no help is asked for. */
function askedFor(commands: Commands<never>, typed: readonly string[]): readonly string[] {
  const isHelp = (word: string) => word === '--help' || word === '-h';
  // `help keys issue` is `keys issue --help`.
  const argv = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
  const [noun, verb] = argv.filter((word) => !word.startsWith('-'));
  const names = Object.keys(commands);
  const isKnown =
    noun === undefined ||
    names.includes(noun) ||
    (verb === undefined
      ? names.some((name) => name.startsWith(`${noun} `))
      : names.includes(`${noun} ${verb}`));
  return isKnown ? argv : argv.filter((word) => !isHelp(word));
}

/** Says what the library has found wrong, in one line. */
function usageError(error: CommanderError): CommandUsageError {
  const [problem = '', suggestion] = error.message.replace(/^error: /, '').split(/\n\((?=Did you mean)/);
  return new CommandUsageError(
    suggestion === undefined ? problem : `${problem}. ${suggestion.replace(/\)$/, '')}`,
  );
}

/**
 * Reads what was typed. Help and the version are written at once.
 * @returns the exit code, where nothing more is to be done
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
  for (const [name, command] of Object.entries(commands)) {
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
