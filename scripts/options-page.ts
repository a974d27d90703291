import { addressLimits, partnerLimits } from '../packages/core/src/limits/request-limits.ts';
import { defaultOptions } from '../packages/core/src/options/defaults.ts';
import { entriesIn, interfaceIn, unionIn } from './shapes.ts';
import { row } from './table-row.ts';

/**
 * Types that a host application implements, returns or receives, by their source files. The options page has a
 * table for each.
 */
const hostShapes: readonly (readonly [file: string, names: readonly string[]])[] = [
  ['packages/core/src/ports/users.ts', ['UserDirectory', 'UserRecord', 'ActiveCredential']],
  ['packages/core/src/ports/users.ts', ['Login', 'Authentication', 'LoginRequest']],
  ['packages/core/src/ports/payments.ts', ['PaymentRail', 'TransferOrder']],
];

/** Returns a union type of words, as written in the source. */
const wordsIn = (file: string, name: string): string =>
  unionIn(`packages/core/src/ports/${file}`, name)
    .alternatives.map(({ type }) => type)
    .join(' | ');

/** Types that the generated tables show as the union of their values instead of by name. */
const words: { readonly [type: string]: string } = {
  KycStatus: wordsIn('users.ts', 'KycStatus'),
  Mode: wordsIn('partners.ts', 'Mode'),
  Currency: wordsIn('transfers.ts', 'Currency'),
};

/**
 * Returns the table rows of options whose names and defaults come from a table of `limits/request-limits.ts`.
 * `after` is the option before these rows, with the name of its interface: `OstiaryOptions limits`.
 */
function limitRows(after: string): string[] {
  const textsOf = (table: string) =>
    new Map(
      entriesIn('packages/core/src/limits/request-limits.ts', table).map(({ name, text }) => [name, text]),
    );
  if (after === 'OstiaryOptions limits') {
    const texts = textsOf('addressLimits');
    return Object.entries(addressLimits).map(([name, standard]) =>
      row(`\`limits.${name}\``, '`number`', String(standard), texts.get(name) ?? ''),
    );
  }
  if (after !== 'PartnerLimits store') return [];
  const texts = textsOf('partnerLimits');
  return Object.entries(partnerLimits).map(([name, { requests, windowSeconds }]) =>
    row(`\`${name}\``, '`PartnerLimit`', `${requests} in ${windowSeconds} seconds`, texts.get(name) ?? ''),
  );
}

/**
 * Interfaces of options, with their source files in `options/` and the prefix of the names of nested options.
 */
const optionInterfaces: readonly (readonly [name: string, file: string, prefix: string])[] = [
  ['OstiaryOptions', 'options.ts', ''],
  ['Theme', 'oauth-options.ts', 'theme.'],
  ['RefreshTokenOptions', 'oauth-options.ts', 'refreshTokens.'],
  ['PartnerLimits', 'partner-options.ts', 'partnerLimits.'],
  ['WebhookOptions', 'partner-options.ts', 'webhooks.'],
];

/** Writes a default value as TypeScript would, or returns `null` if the default is not a plain value. */
function literalOf(value: unknown): string | null {
  if (typeof value === 'string') return `\`"${value}"\``;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return null;
  return `\`[${value.map((item) => (typeof item === 'string' ? `'${item}'` : item)).join(', ')}]\``;
}

/** Returns the default of an option. @throws Error if the comment of the option differs from the code */
function defaultOf(path: string, words: string | null): string {
  const value = path.split('.').reduce<unknown>((outer, name) => Object(outer)[name], defaultOptions);
  const literal = literalOf(value);
  if (literal !== null && literal !== words)
    throw new Error(
      `options/defaults.ts: the default of ${path} is ${literal}, and @defaultValue says ${words}`,
    );
  return words ?? 'none';
}

/** Makes the page about the options of `createOstiary`, from their types, comments and defaults. */
export function optionsPage(): string {
  const tables = optionInterfaces.map(([name, file, outer]) => {
    const { members } = interfaceIn(`packages/core/src/options/${file}`, name);
    const rows = members.flatMap(({ path, type, isOptional, text, standard }) => [
      row(
        `\`${path}\``,
        type === null ? 'object' : `\`${type}\``,
        isOptional ? defaultOf(`${outer}${path}`, standard) : 'required',
        text,
      ),
      ...limitRows(`${name} ${path}`),
    ]);
    return `## ${name}\n\n| Option | Type | Default | |\n|---|---|---|---|\n${rows.join('\n')}`;
  });
  const shapes = hostShapes.flatMap(([file, names]) =>
    names.map((name) => {
      const { text, members } = interfaceIn(file, name);
      const rows = members.map((member) =>
        row(
          `\`${member.path}\``,
          member.type === null ? 'object' : `\`${words[member.type] ?? member.type}\``,
          member.isOptional ? 'no' : 'yes',
          [member.text, member.standard === null ? '' : `Without it: ${member.standard}.`].join(' ').trim(),
        ),
      );
      return `### ${name}\n\n${text}\n\n| Member | Type | Needed | |\n|---|---|---|---|\n${rows.join('\n')}`;
    }),
  );
  const { text, alternatives } = unionIn('packages/core/src/ports/payments.ts', 'TransferResult');
  const results = alternatives.map((one) => row(`\`${one.type.replaceAll('readonly ', '')}\``, one.text));
  return `# Options of createOstiary

\`createOstiary\` checks every option. If an option is unknown or has a wrong value, \`createOstiary\` throws a \`TypeError\` that names the option.

${tables.join('\n\n')}

## What you bring

You bring your users, your login and your way of moving money. Ostiary checks every result of your functions. A result of a wrong shape causes a 500 response (a wrong result of \`execute\`: a transfer that stays pending), and a line in the log that says what is wrong.

${shapes.join('\n\n')}

### TransferResult

${text}

| One of | |
|---|---|
${results.join('\n')}`;
}
