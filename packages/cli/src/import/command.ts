import { readFile } from 'node:fs/promises';
import {
  type CommandArguments,
  type Commands,
  CommandUsageError,
  table,
  toggle,
  value,
  values,
} from '../command.ts';
import { applyImport, type ClientOutcome, type ConsentOutcome } from './apply.ts';
import { type Found, members, type Omission, type ReadExport } from './found.ts';
import { latestOfHydra, readHydra } from './hydra.ts';
import { readKeycloak } from './keycloak.ts';
import { readOidcProvider } from './oidc-provider.ts';

const readers = {
  'oidc-provider': readOidcProvider,
  hydra: readHydra,
  keycloak: readKeycloak,
} as const satisfies { readonly [name: string]: ReadExport };
const names = Object.keys(readers) as (keyof typeof readers)[];

async function contentOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    const isMissing = 'code' in error && error.code === 'ENOENT';
    throw new CommandUsageError(
      isMissing ? `there is no file ${file}` : `${file} cannot be read: ${error.message}`,
    );
  });
}

/** Reads a JSON file: one document, or one document per line as mongoexport and jq write it. */
async function documentOf(file: string): Promise<unknown> {
  const content = await contentOf(file);
  try {
    return JSON.parse(content);
  } catch {
    const lines = content.split('\n').filter((line) => line.trim() !== '');
    try {
      return lines.map((line) => JSON.parse(line));
    } catch {
      throw new CommandUsageError(`${file} is not JSON`);
    }
  }
}

async function found(from: keyof typeof readers, files: readonly string[]): Promise<Found> {
  const documents: Found[] = [];
  for (const file of files) {
    try {
      documents.push(readers[from](await documentOf(file)));
    } catch (error) {
      if (error instanceof TypeError || error instanceof SyntaxError)
        throw new CommandUsageError(`${file} ${error.message}`);
      throw error;
    }
  }
  const clients = documents.flatMap(({ clients }) => clients);
  const all = documents.flatMap(({ consents }) => consents);
  const consents = from === 'hydra' ? latestOfHydra(all) : all;
  if (clients.length + consents.length === 0)
    throw new CommandUsageError('there are neither clients nor consents in what was given');
  return { clients, consents };
}

function scopeNames(args: CommandArguments): ReadonlyMap<string, string> {
  return new Map(
    args.list('rename-scope').map((pair): [string, string] => {
      const [there, here, ...rest] = pair.split('=');
      if (!there || !here || rest.length > 0)
        throw new CommandUsageError('--rename-scope takes the name there, an equals sign and the name here');
      return [there, here];
    }),
  );
}

async function subjectsOf(file: string | undefined): Promise<ReadonlyMap<string, string> | null> {
  if (file === undefined) return null;
  const entries = Object.entries(members(await documentOf(file)));
  const subjects = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (entries.length === 0 || subjects.length < entries.length)
    throw new CommandUsageError(`${file} must be a JSON object of old and new user ids`);
  return new Map(subjects);
}

function rowOf(
  { clientId, outcome, isHashed, reason, left }: ClientOutcome,
  isTrial: boolean,
): readonly string[] {
  const done = { created: isTrial ? 'would be created' : 'created', exists: 'exists', refused: 'REFUSED' }[
    outcome
  ];
  const secret = outcome === 'created' && isHashed ? ['its secret is hashed'] : [];
  const without = left.length > 0 && outcome === 'created' ? [`without ${left.join('; ')}`] : [];
  return [clientId, done, reason ?? [...secret, ...without].join('; ')];
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Texts for the reasons why consents are not imported. */
const omissions: { readonly [Reason in Omission]: string } = {
  limited: 'they are valid for a limited time',
  ended: 'they have expired',
  notRemembered: 'they were for one sign-in',
  ofDisabledUser: 'their user is disabled',
  incomplete: 'they name no user or no client',
  unfitUserId: 'the id of their user is not 1 to 255 printable ASCII characters; --subjects renames users',
};

function consentLines(outcome: ConsentOutcome, isTrial: boolean): string {
  const { imported, known, omitted, left, withoutClient, withoutUser, withoutScopes } = outcome;
  const reasons = Object.keys(omissions) as Omission[];
  return [
    `${counted(imported, 'consent')} ${isTrial ? 'would be imported, but for those that are known' : 'imported'}`,
    ...(known ? [`${known} left as they are or were here`] : []),
    ...reasons.flatMap((reason) =>
      omitted[reason] === undefined ? [] : [`${omitted[reason]} left out: ${omissions[reason]}`],
    ),
    ...(withoutClient > 0 ? [`${withoutClient} left out: their client is not here`] : []),
    ...(withoutUser > 0 ? [`${withoutUser} left out: their user is not among the subjects`] : []),
    ...(withoutScopes > 0 ? [`${withoutScopes} left out: none of their scopes is here`] : []),
    ...Object.entries(left).map(([what, count]) => `${count} without ${what}`),
  ].join('\n');
}

/** Commands that import clients and consents of another system. */
export const importCommands: Commands = {
  import: {
    about:
      'bring clients and consents of oidc-provider, Hydra or Keycloak along; what is here already stays as it is',
    example: '--from keycloak --file realm.json --dry-run',
    flags: {
      from: value('where the files come from', { required: true, oneOf: names }),
      file: values('an export, JSON', { required: true, whole: true }),
      'dry-run': toggle('tell what would be done, and store nothing'),
      scope: values('scopes of clients that name none'),
      'rename-scope': values('a scope that is called otherwise here: there=here'),
      subjects: value('JSON file: ids of users there, and their ids here (the same ids)'),
    },
    async run({ admin, terminal }, args) {
      const from = args.oneOf('from', names);
      const files = args.list('file');
      if (from === undefined) throw new CommandUsageError('--from is missing');
      const isTrial = args.has('dry-run');
      const choices = {
        ...{ isTrial, scopes: args.list('scope'), scopeNames: scopeNames(args) },
        subjects: await subjectsOf(args.text('subjects')),
        onProgress: (step: string, done: number, of: number) => terminal.progress({ step, done, of }),
      };
      const { clients, consents } = await applyImport(admin, await found(from, files), choices);
      const refused = clients.filter(({ outcome }) => outcome === 'refused').length;
      const rows = [['CLIENT ID', '', ''], ...clients.map((client) => rowOf(client, isTrial))];
      return {
        text: `${table(rows)}\n\n${consentLines(consents, isTrial)}`,
        json: { dryRun: isTrial, clients, consents },
        ...(refused > 0 && {
          note: `${counted(refused, 'client')} refused: mend the files, and import again.`,
          exitCode: 1,
        }),
      };
    },
  },
};
