import { type Administration, ClientError } from '@ostiary/core/admin';
import { userIdFormat } from '@ostiary/core/internal';
import type { Found, FoundClient, FoundConsent, Omission } from './found.ts';

/** Planned or finished import of one client. */
export interface ClientOutcome {
  readonly clientId: string;
  readonly outcome: 'created' | 'exists' | 'refused';
  readonly isHashed: boolean;
  /** Reason why the client was refused; `null` if it was not. */
  readonly reason: string | null;
  /** Properties that the client had on the old server and that are not imported. */
  readonly left: readonly string[];
}

/** Numbers of consents by result of the import. */
export interface ConsentOutcome {
  /**
   * Number of imported consents. In a dry run: the number that would be passed to the import, including those
   * that exist already.
   */
  readonly imported: number;
  /** Number of consents that already existed in Ostiary, also revoked ones; `null` in a dry run. */
  readonly known: number | null;
  readonly withoutClient: number;
  readonly withoutUser: number;
  readonly withoutScopes: number;
  /** Numbers of skipped consents, by reason. */
  readonly omitted: { readonly [Reason in Omission]?: number };
  /**
   * Numbers of consents, also of known ones, that lost a part because Ostiary does not have it, by the name
   * of the part, such as `scope address` or `single claims`.
   */
  readonly left: { readonly [what: string]: number };
}

export interface ImportChoices {
  /** True for a dry run, which stores nothing. */
  readonly isTrial: boolean;
  /** Scopes for imported clients that name none. */
  readonly scopes: readonly string[];
  /** Names of scopes in Ostiary, by their names on the old server. */
  readonly scopeNames: ReadonlyMap<string, string>;
  /** User ids in Ostiary by the ids on the old server; `null` if the ids stay the same. */
  readonly subjects: ReadonlyMap<string, string> | null;
  /** Progress callback, called after each client and each batch of consents. */
  readonly onProgress: (step: string, done: number, of: number) => void;
}

/** Makes a function that renames scopes of the old server, and separates those that Ostiary does not know. */
function scopesFor({ clients: { scopes: known } }: Administration, { scopeNames }: ImportChoices) {
  return (names: readonly string[]) => {
    const renamed = [...new Set(names.map((name) => scopeNames.get(name) ?? name))];
    return {
      kept: renamed.filter((name) => known.includes(name)),
      unknown: renamed.filter((name) => !known.includes(name)),
    };
  };
}

/** Imports a client, or in a dry run checks whether it could be imported. */
async function importClient(
  admin: Administration,
  { clientId, settings, left, reason }: FoundClient,
  choices: ImportChoices,
): Promise<ClientOutcome> {
  const isUnnamed = settings.allowedScopes.length === 0;
  const { kept, unknown } = scopesFor(admin, choices)(isUnnamed ? choices.scopes : settings.allowedScopes);
  const scopes = unknown.length > 0 ? [`scopes: ${unknown.join(' ')}`] : [];
  const isHashed = settings.clientSecretHash !== undefined;
  const found = { clientId, isHashed, left: [...left, ...scopes] };
  const refused = (why: string) => ({ ...found, outcome: 'refused' as const, reason: why });
  if ((await admin.clients.get(clientId)) !== null) return { ...found, outcome: 'exists', reason: null };
  if (reason !== null) return refused(reason);
  if (isUnnamed && choices.scopes.length === 0) return refused('it names no scopes: say with --scope which');
  const client = { ...settings, allowedScopes: kept };
  try {
    await (choices.isTrial ? admin.clients.check(client) : admin.clients.create(client));
    return { ...found, outcome: 'created', reason: null };
  } catch (error) {
    // Another process has created the client in the meantime.
    if (error instanceof ClientError) return { ...found, outcome: 'exists', reason: null };
    if (error instanceof TypeError) return refused(error.message);
    throw error;
  }
}

/** Merges consents of the same user and client into one, with all their scopes and the earliest date. */
function joined(consents: Found['consents']): Found['consents'] {
  const all = new Map<string, FoundConsent>();
  for (const consent of consents) {
    const key = JSON.stringify([consent.sub, consent.clientId]);
    const known = all.get(key) ?? consent;
    const dates = [known.grantedAt, consent.grantedAt].filter((date) => date !== undefined);
    const [grantedAt] = dates.sort((one, other) => one.getTime() - other.getTime());
    all.set(key, {
      ...known,
      scopes: [...new Set([...known.scopes, ...consent.scopes])],
      left: [...new Set([...known.left, ...consent.left])],
      ...(grantedAt !== undefined && { grantedAt }),
    });
  }
  return [...all.values()];
}

/** Counts how often each text occurs. */
function counts<Text extends string>(all: readonly Text[]): { readonly [text in Text]?: number } {
  const found = new Map<Text, number>();
  for (const one of all) found.set(one, (found.get(one) ?? 0) + 1);
  return Object.fromEntries(found) as { readonly [text in Text]?: number };
}

/** Number of consents that are imported with one call. */
const batch = 1000;

async function importConsents(
  admin: Administration,
  found: Found['consents'],
  clientIds: ReadonlySet<string>,
  choices: ImportChoices,
): Promise<ConsentOutcome> {
  const { subjects, isTrial } = choices;
  const scopesOf = scopesFor(admin, choices);
  const complete = found.filter(({ omission }) => omission === null);
  const ofClients = complete.filter(({ clientId }) => clientIds.has(clientId));
  const ofUsers = ofClients.flatMap((consent) => {
    const sub = subjects === null ? consent.sub : subjects.get(consent.sub);
    return sub === undefined ? [] : [{ ...consent, sub }];
  });
  const fit = ofUsers.filter(({ sub }) => userIdFormat.test(sub));
  const unfit = ofUsers.filter(({ sub }) => !userIdFormat.test(sub)).map((): Omission => 'unfitUserId');
  // Two users of the other system may map to the same user of Ostiary.
  const all = joined(fit);
  const brought = all
    .map(({ left, scopes, ...consent }) => {
      const { kept, unknown } = scopesOf(scopes);
      return { ...consent, scopes: kept, left: [...left, ...unknown.map((scope) => `scope ${scope}`)] };
    })
    .filter(({ scopes }) => scopes.length > 0);
  const given = brought.map(({ left: _, omission: __, ...consent }) => consent);
  let imported = isTrial ? given.length : 0;
  for (let start = 0; start < given.length && !isTrial; start += batch) {
    imported += (await admin.consents.import(given.slice(start, start + batch))).imported;
    choices.onProgress('importing consents', Math.min(start + batch, given.length), given.length);
  }
  return {
    imported,
    known: isTrial ? null : given.length - imported,
    omitted: counts([...found.flatMap(({ omission }) => omission ?? []), ...unfit]),
    left: counts(brought.flatMap(({ left }) => left)) as ConsentOutcome['left'],
    withoutClient: complete.length - ofClients.length,
    withoutUser: ofClients.length - ofUsers.length,
    withoutScopes: all.length - given.length,
  };
}

/**
 * Imports clients and consents of another server. Existing ones stay as they are, so an import can be
 * repeated, after an interruption or to add missing parts.
 */
export async function applyImport(
  admin: Administration,
  { clients, consents }: Found,
  choices: ImportChoices,
) {
  const outcomes: ClientOutcome[] = [];
  for (const client of clients) {
    outcomes.push(await importClient(admin, client, choices));
    choices.onProgress('importing clients', outcomes.length, clients.length);
  }
  const there = new Set(
    outcomes.flatMap(({ clientId, outcome }) => (outcome === 'refused' ? [] : [clientId])),
  );
  // A file that contains only consents refers to clients that were imported earlier.
  const others = new Set(consents.map(({ clientId }) => clientId).filter((id) => !there.has(id)));
  for (const clientId of others) if ((await admin.clients.get(clientId)) !== null) there.add(clientId);
  return { clients: outcomes, consents: await importConsents(admin, consents, there, choices) };
}
