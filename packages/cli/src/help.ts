import { type CommandDescription, type Commands, table } from './command.ts';

/** How a command is called: its arguments, without its flags. */
function called(name: string, { positionals = [] }: CommandDescription): string {
  return [name, ...positionals.map((positional) => `<${positional}>`)].join(' ');
}

const common: readonly (readonly string[])[] = [
  ['  --json', 'print JSON, for programs'],
  ['  --yes', 'do not ask before something is ended or removed'],
  ['  --actor <name>', 'who is named in the audit log (the user of this machine, unless given)'],
];

/** Every command in one line each. */
export function overview(program: string, commands: Commands<never>): string {
  const rows = Object.entries(commands).map(([name, command]) => [
    `  ${called(name, command)}`,
    command.about,
  ]);
  return [
    `${program} <command> [options]`,
    '',
    table(rows),
    '',
    'With every command',
    table(common),
    '',
    `${program} <command> --help says what else a command takes. Exit codes: 0 done, 1 failed, 2 typed wrongly.`,
  ].join('\n');
}

/** One command with its flags. */
export function details(program: string, name: string, command: CommandDescription): string {
  const flags = Object.entries(command.flags ?? {}).map(([flag, { type, multiple = false, about }]) => [
    `  --${flag}${type === 'string' ? ' <value>' : ''}`,
    `${about}${multiple ? '; may be repeated' : ''}`,
  ]);
  return [
    `${program} ${called(name, command)} [options]`,
    '',
    command.about,
    '',
    table([...flags, ...common]),
  ].join('\n');
}
