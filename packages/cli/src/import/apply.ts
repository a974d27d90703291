import { type Administration, ClientError } from '@ostiary/core/admin';
import type { Found, FoundClient, FoundConsent, Omission } from './found.ts';

/** Planned or completed action for one client. */
export interface ClientOutcome {
  readonly clientId: string;
  readonly outcome: 'created' | 'exists' | 'refused';
  readonly isHashed: boolean;
  /** Reason of a refusal. */
  readonly reason: string | null;
  /** Properties that the client had in the other system and does not have here. */
  readonly left: readonly string[];
}

/** Numbers of consents by their planned or completed action. */
export interface ConsentOutcome {
  /** In a trial: how many would be handed over, of which those that are known already stay as they are. */
  readonly imported: number;
  /** For which there is or was one here already; `null` in a trial. */
  readonly known: number | null;
  readonly withoutClient: number;
  readonly withoutUser: number;
  readonly withoutScopes: number;
  /** Numbers of consents that were left out, by reason. */
  readonly omitted: { readonly [Reason in Omission]?: number };
  /** Scopes and claims that imported consents gave in the other system and do not give here, with the number of consents. */
  readonly left: { readonly [what: string]: number };
}

export interface ImportChoices {
  /** Store nothing. */
  readonly isTrial: boolean;
  /** For clients that name none. */
  readonly scopes: readonly string[];
  /** Scopes that are called otherwise here. */
  readonly scopeNames: ReadonlyMap<string, string>;
  /** Users by what they were called; `null`: they keep it. */
  readonly subjects: ReadonlyMap<string, string> | null;
  /** Progress callback, called after each client and each batch of consents. */
  readonly told: (step: string, done: number, of: number) => void;
}

/** Scopes of the other system as those of this one. */
function scopesFor({ clients: { scopes: known } }: Administration, { scopeNames }: ImportChoices) {
  return (names: readonly string[]) => {
    const renamed = [...new Set(names.map((name) => scopeNames.get(name) ?? name))];
    return {
      kept: renamed.filter((name) => known.includes(name)),
      unknown: renamed.filter((name) => !known.includes(name)),
    };
  };
}

/** Creates a client, or tries whether it could be. */
async function importClient(
  admin: Administration,
  { clientId, settings, left, reason }: FoundClient,
  choices: ImportChoices,
): Promise<ClientOutcome> {
  const isUnnamed = settings.allowedScopes.length === 0;
  const { kept, unknown } = scopesFor(admin, choices)(isUnnamed ? choices.scopes : settings.allowedScopes);
  const scopes = unknown.length > 0 ? [`scopes: ${unknown.join(' ')}`] : [];
  const isHashed = settings.clientSecretHash !== undefined;
  const told = { clientId, isHashed, left: [...left, ...scopes] };
  const refused = (why: string) => ({ ...told, outcome: 'refused' as const, reason: why });
  if ((await admin.clients.get(clientId)) !== null) return { ...told, outcome: 'exists', reason: null };
  if (reason !== null) return refused(reason);
  if (isUnnamed && choices.scopes.length === 0) return refused('it names no scopes: say with --scope which');
  const client = { ...settings, allowedScopes: kept };
  try {
    await (choices.isTrial ? admin.clients.check(client) : admin.clients.create(client));
    return { ...told, outcome: 'created', reason: null };
  } catch (error) {
    // Somebody else has created it meanwhile.
    if (error instanceof ClientError) return { ...told, outcome: 'exists', reason: null };
    if (error instanceof TypeError) return refused(error.message);
    throw error;
  }
}

/** Consents of one user and client are one, with the scopes of all and the earliest date. */
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
  // Two users of there may be one here.
  const all = joined(ofUsers);
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
    choices.told('importing consents', Math.min(start + batch, given.length), given.length);
  }
  return {
    imported,
    known: isTrial ? null : given.length - imported,
    omitted: counts(found.flatMap(({ omission }) => omission ?? [])),
    left: counts(brought.flatMap(({ left }) => left)) as ConsentOutcome['left'],
    withoutClient: complete.length - ofClients.length,
    withoutUser: ofClients.length - ofUsers.length,
    withoutScopes: all.length - given.length,
  };
}

/**
 * Imports clients and consents of another system. Existing ones stay as they are, so an import can be
 * repeated: after an interruption, or with missing parts.
 */
export async function applyImport(
  admin: Administration,
  { clients, consents }: Found,
  choices: ImportChoices,
) {
  const outcomes: ClientOutcome[] = [];
  for (const client of clients) {
    outcomes.push(await importClient(admin, client, choices));
    choices.told('importing clients', outcomes.length, clients.length);
  }
  const there = new Set(
    outcomes.flatMap(({ clientId, outcome }) => (outcome === 'refused' ? [] : [clientId])),
  );
  // A file of consents alone goes to clients that were imported before.
  const others = new Set(consents.map(({ clientId }) => clientId).filter((id) => !there.has(id)));
  for (const clientId of others) if ((await admin.clients.get(clientId)) !== null) there.add(clientId);
  return { clients: outcomes, consents: await importConsents(admin, consents, there, choices) };
}
