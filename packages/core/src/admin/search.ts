import type { Core } from '../options/context.ts';
import type { NameSearch } from '../ports/lists.ts';
import type { Owner } from '../ports/partners.ts';
import { apiKeyFormat } from '../secrets/api-key-format.ts';
import { searchNameOf } from '../text/search-name.ts';
import { secretPattern } from '../text/secret-pattern.ts';

/**
 * An object that the operators' search found. All objects but partners and clients name their partner and
 * mode.
 */
export type SearchHit =
  | { readonly kind: 'partner'; readonly id: string; readonly name: string }
  | { readonly kind: 'client'; readonly id: string; readonly name: string }
  | ({ readonly kind: 'key'; readonly id: string; readonly name: string } & Owner)
  | ({ readonly kind: 'endpoint'; readonly id: string; readonly url: string } & Owner)
  | ({ readonly kind: 'event'; readonly id: string; readonly type: string } & Owner)
  | ({ readonly kind: 'delivery'; readonly id: string; readonly eventId: string } & Owner)
  | ({ readonly kind: 'request'; readonly id: string; readonly route: string } & Owner)
  | ({ readonly kind: 'transfer'; readonly id: string; readonly status: string } & Owner);

/** Result of an operator's search over all partners. */
export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /**
   * True if the searched text contains a secret, such as a whole API key. In this case nothing was searched.
   */
  readonly isSecret: boolean;
}

/** Largest number of objects of one kind that a search returns. */
export const searchedPerKind = 6;

/** Maximum number of names that a search by a later word of a name reads, for each kind of object. */
const searchedNames = 10_000;

const maxLength = 200;

/**
 * Lists the rows whose id, or a word of whose name, begins with a text, without duplicates. Rows whose whole
 * name begins with the text come before rows in which a later word does.
 */
async function byNameOrId<Row>(
  store: {
    find(id: string): Promise<Row | null>;
    list(page: { readonly after: string; readonly limit: number }): Promise<readonly Row[]>;
    sorted(page: {
      readonly by: 'name';
      readonly descending: false;
      readonly after: { readonly value: string; readonly id: string };
      readonly limit: number;
    }): Promise<readonly Row[]>;
    named(search: NameSearch): Promise<readonly Row[]>;
  },
  text: string,
  { idOf, nameOf }: { readonly idOf: (row: Row) => string; readonly nameOf: (row: Row) => string },
): Promise<readonly Row[]> {
  const name = searchNameOf(text);
  const page = {
    by: 'name',
    descending: false,
    after: { value: name, id: '' },
    limit: searchedPerKind,
  } as const;
  const [same, byId, byName, byWord] = await Promise.all([
    store.find(text),
    store.list({ after: text, limit: searchedPerKind }),
    name === '' ? [] : store.sorted(page),
    name === '' ? [] : store.named({ words: name, searched: searchedNames, limit: searchedPerKind }),
  ]);
  const rows = [
    ...(same === null ? [] : [same]),
    ...byId.filter((row) => idOf(row).startsWith(text)),
    ...byName.filter((row) => nameOf(row).startsWith(name)),
    ...byWord,
  ];
  return [...new Map(rows.map((row) => [idOf(row), row])).values()].slice(0, searchedPerKind);
}

/**
 * Creates the search of the operators' pages, which finds objects of all partners by their ids, by words of
 * their names or, for API keys, by the beginning of the key.
 */
export function createSearch({ storage, options: { prefix } }: Core) {
  const { partners, clients, apiKeys, webhooks, events, deliveries, requestLog, transfers } = storage;
  const { startOf } = apiKeyFormat(prefix);
  const isSecret = secretPattern(prefix);

  async function partnersLike(text: string): Promise<readonly SearchHit[]> {
    const rows = await byNameOrId(partners, text, {
      idOf: ({ slug }) => slug,
      nameOf: ({ searchName }) => searchName,
    });
    return rows.map(({ slug, name }) => ({ kind: 'partner', id: slug, name }));
  }

  async function clientsLike(text: string): Promise<readonly SearchHit[]> {
    const rows = await byNameOrId(clients, text, {
      idOf: ({ clientId }) => clientId,
      nameOf: ({ searchName = '' }) => searchName,
    });
    return rows.map(({ clientId, name }) => ({ kind: 'client', id: clientId, name }));
  }

  async function keysLike(text: string): Promise<readonly SearchHit[]> {
    const start = startOf(text);
    const byId = text.startsWith('key_') ? await apiKeys.find(text) : null;
    const rows =
      start === '' ? [byId].flatMap((row) => row ?? []) : await apiKeys.startingWith(start, searchedPerKind);
    return rows.map(({ id, partner, mode, name }) => ({ kind: 'key', id, partner, mode, name }));
  }

  /**
   * Finds the event, delivery, endpoint or transfer with this id, whose prefix names the kind of object.
   * Without such a prefix, finds the logged request with this id.
   */
  async function byId(id: string): Promise<readonly SearchHit[]> {
    const kind = /^[a-z]{2,3}(?=_)/.exec(id)?.[0] ?? '';
    if (kind === 'evt') {
      const row = await events.findById(id);
      return row === null
        ? []
        : [{ kind: 'event', id, partner: row.partner, mode: row.mode, type: row.type }];
    }
    if (kind === 'dl') {
      const row = await deliveries.findById(id);
      return row === null
        ? []
        : [{ kind: 'delivery', id, partner: row.partner, mode: row.mode, eventId: row.eventId }];
    }
    if (kind === 'we') {
      const row = await webhooks.findById(id);
      return row === null
        ? []
        : [{ kind: 'endpoint', id, partner: row.partner, mode: row.mode, url: row.url }];
    }
    if (kind === 'tr') {
      const row = await transfers.findById(id);
      return row === null
        ? []
        : [{ kind: 'transfer', id, partner: row.partner, mode: row.mode, status: row.status }];
    }
    const row = await requestLog.findById(id);
    return row === null
      ? []
      : [{ kind: 'request', id, partner: row.partner, mode: row.mode, route: `${row.method} ${row.route}` }];
  }

  return async (typed: string): Promise<SearchResult> => {
    const text = typed.replaceAll('\0', '').toWellFormed().trim().replace(/…$/, '').slice(0, maxLength);
    if (text === '') return { hits: [], isSecret: false };
    if (startOf(text) !== text && isSecret(text)) return { hits: [], isSecret: true };
    const found = await Promise.all([partnersLike(text), clientsLike(text), keysLike(text), byId(text)]);
    return { hits: found.flat(), isSecret: false };
  };
}
