import { styled } from './colour.ts';
import type { CommandDescription, CommandFlag } from './command.ts';

/** Descriptions of groups of commands for the help, by the noun with which the commands begin. */
const nouns: { readonly [noun: string]: string } = {
  partners: 'who calls the partner API',
  keys: 'API keys of partners',
  portal: 'live data of partners for their people',
  clients: 'OAuth clients',
  'signing-keys': 'keys that sign ID tokens',
  endpoints: 'webhook endpoints of partners',
  deliveries: 'webhooks on their way to partners',
  events: 'what partners are told',
  payments: 'transfers of partners',
  requests: 'log of requests to the partner API',
  audit: 'what administrators did',
  access: 'what apps may do for a user',
  users: 'users of this installation',
  staff: 'people who may open the pages for operators',
};

/**
 * Groups in the overview of all commands, with the commands and nouns in each. Everything else is in the last
 * group.
 */
const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
  ['Partners', ['partners', 'keys', 'portal', 'payments', 'requests', 'export', 'funds']],
  ['Webhooks', ['endpoints', 'events', 'deliveries', 'trigger', 'tail']],
  ['Apps and users', ['clients', 'access', 'users', 'passport']],
  ['Service', []],
];

/** Returns the title of the group to which a command or noun belongs. */
export function groupOf(name: string): string {
  const [title] = groups.find(([, names]) => names.includes(name)) ?? groups.at(-1) ?? ['Service'];
  return `${title}:`;
}

/** Titles of the command groups in the help, in their order. */
export const groupTitles = groups.map(([title]) => `${title}:`);

/** Aliases for the second word of a command. */
const aliases: { readonly [verb: string]: readonly string[] } = {
  list: ['ls'],
  remove: ['delete', 'rm'],
  show: ['get'],
};

/** Returns the aliases that may be typed for the last word of a command. */
export const aliasesOf = (verb: string): readonly string[] => aliases[verb] ?? [];

/**
 * Returns the description of the noun with which commands begin, or `''` for a noun without a description,
 * such as one that the host application added.
 */
export const aboutNoun = (noun: string): string => nouns[noun] ?? '';

function placeholder({ oneOf, is }: CommandFlag): string {
  if (oneOf !== undefined && oneOf.join('|').length < 20) return oneOf.join('|');
  return is === undefined ? 'value' : is.replace('whole ', '');
}

/** Formats a flag for the help: `--mode <live|test>`. */
export const termOf = (name: string, flag: CommandFlag): string =>
  flag.type === 'boolean' ? `--${name}` : `--${name} <${placeholder(flag)}>`;

/** Describes a flag for the help. */
export function aboutFlag(flag: CommandFlag): string {
  const { about, oneOf, multiple = false, default: unless } = flag;
  const isShown =
    oneOf === undefined || placeholder(flag) === oneOf.join('|') || about.includes(oneOf[0] ?? '');
  return [
    about,
    ...(isShown ? [] : [`: ${oneOf.join(', ')}`]),
    ...(multiple ? ['; may be repeated'] : []),
    ...(unless === undefined ? [] : [` (default: ${unless})`]),
  ].join('');
}

/** Lists the required arguments of a command: positionals and required flags. */
export function requiredOf({ positionals = [], flags = {} }: CommandDescription): string[] {
  const required = Object.entries(flags).filter(([, flag]) => flag.required === true);
  return [...positionals.map((name) => `<${name}>`), ...required.map(([name, flag]) => termOf(name, flag))];
}

/** Formats the arguments of a command for its usage line. */
export const usageOf = (command: CommandDescription): string =>
  [...requiredOf(command), '[options]'].join(' ');

/** Formats the example at the end of a command's help. */
export const exampleOf = (name: string, { example }: CommandDescription): string =>
  example === undefined ? '' : `\n${styled('bold', 'Example:')}\n  ${`${name} ${example}`.trimEnd()}`;

/** Text styles (bold, colours) with which the help is formatted. */
export const helpStyle = {
  styleTitle: (title: string) => styled('bold', title),
  styleCommandText: (text: string) => styled('cyan', text),
  styleSubcommandText: (text: string) => styled('cyan', text),
  styleOptionText: (text: string) => styled('cyan', text),
  styleArgumentText: (text: string) => styled('cyan', text),
};

/** Formats the last lines of the overview of all commands. */
export const closing = (program: string): string =>
  `\n${program} <command> --help describes a command, with an example.\n` +
  'Exit codes: 0 done, 1 failed or not confirmed, 2 typed wrongly, 3 not found.';
