import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Act, withBefore } from '../audit/acts.ts';
import { hasKeys, isPublicClient } from '../keys/client-credentials.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { searchNameOf } from '../text/search-name.ts';
import { checked } from './checked.ts';
import {
  type CheckTarget,
  refuseContradiction,
  requireOptions,
  requirePartner,
  requireTargets,
} from './client-checks.ts';
import { clientToCreate } from './client-creation.ts';
import { readKeys, recordedKeys, refuseOtherKind } from './client-keys.ts';
import { withProfile } from './client-profile.ts';
import { ending, newSecret } from './client-secrets.ts';
import {
  type Client,
  type ClientSettings,
  clientSettings,
  type NewClient,
  shownClient,
} from './client-settings.ts';
import {
  listPage,
  type PageRequest,
  readSortedPage,
  type SortedRequest,
  type TwoWayPage,
} from './list-page.ts';

/** A client with its newly issued secret, which no other call returns. */
export interface ClientWithSecret {
  readonly client: Client;
  readonly clientSecret: string;
}

/** Thrown when an administrator names a client that does not exist, or an id that is taken. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: 'client_not_found' | 'client_exists';

  constructor(code: 'client_not_found' | 'client_exists', clientId: string) {
    super(`${code === 'client_exists' ? 'there is already a client' : 'there is no client'} ${clientId}`);
    this.code = code;
  }
}

/**
 * Creates, changes and disables OAuth clients. Every change takes effect with the next request, in every
 * process.
 */
export interface ClientAdministration<Name extends string = string> {
  /**
   * Creates a client. Returns the secret that was generated, which cannot be read again; `null` if you
   * supplied the secret or its hash, or the client is public or has keys.
   * @throws TypeError if a setting is invalid
   * @throws ClientError `client_exists`
   * @throws PartnerNameError `partner_not_found`
   */
  create(client: NewClient<Name>): Promise<{ readonly client: Client; readonly clientSecret: string | null }>;
  /** Checks the settings of a new client as `create` does, with the same errors, but stores nothing. */
  check(client: NewClient<Name>): Promise<void>;
  /** Names of all scopes that a client can be allowed. */
  readonly scopes: readonly Name[];
  get(clientId: string): Promise<Client | null>;
  /**
   * Lists clients by client id. Pass `next` as `after` to get the following page; it is `null` on the last
   * page.
   * @param page - with `documents: true` lists the clients that describe themselves with metadata documents, which are left out
   * otherwise; see the option `clientMetadataDocuments`
   */
  list(
    page?: PageRequest & { readonly documents?: boolean },
  ): Promise<{ readonly clients: readonly Client[]; readonly next: string | null }>;
  /**
   * Lists clients by name or by time of creation, in both directions. Leaves out clients with a metadata
   * document of their own.
   * @throws TypeError if the request is invalid
   */
  sorted(request?: SortedRequest): Promise<TwoWayPage<Client>>;
  /**
   * Lists the clients that describe themselves with a metadata document, by id, in ascending or descending
   * order. @throws TypeError if the request is invalid
   */
  documents(request?: Pick<SortedRequest, 'after' | 'before' | 'limit'>): Promise<TwoWayPage<Client>>;
  /** Counts the clients that describe themselves with a metadata document. */
  countDocuments(): Promise<number>;
  /**
   * Counts the clients, without those with a metadata document. Counting stops at 10,000: that result means
   * 10,000 or more.
   */
  count(): Promise<number>;
  /**
   * Changes the given settings of a client.
   * @throws TypeError if a setting is invalid, or a metadata document describes the client
   * @throws ClientError `client_not_found`
   * @throws PartnerNameError `partner_not_found`
   */
  update(clientId: string, changes: Partial<ClientSettings<Name>>): Promise<Client>;
  /**
   * Issues another client secret. Older secrets stay valid for the overlap, then expire.
   * @throws TypeError for a public client, for a client with keys that `replaceKeys` does not remove, or for a
   * client with the profile `fapi2`, whose keys {@link ClientAdministration.update} replaces
   * @throws ClientError `client_not_found`
   */
  rotateSecret(
    clientId: string,
    options?: {
      /** Seconds for which older secrets keep working. @defaultValue 0 */
      readonly overlapSeconds?: number;
      /**
       * Removes the keys of a client that authenticates with keys, so that the secret takes their place at once. Has no effect on
       * other clients.
       * @defaultValue false
       */
      readonly replaceKeys?: boolean;
    },
  ): Promise<ClientWithSecret>;
  /**
   * Sets the logo that is shown beside the client's name: a square, still PNG of 32 to 1,024 pixels and at
   * most 64 KiB, without a color profile, compressed text and other metadata beyond plain text. It is stored
   * and served from `authUrl`. `null` removes the logo.
   * @throws TypeError for any other picture, or a client that a metadata document describes
   * @throws ClientError `client_not_found`
   */
  setLogo(clientId: string, png: Uint8Array | null): Promise<Client>;
  /**
   * Disables a client: it is refused from now on, and every consent, code and token of its users is revoked.
   */
  disable(clientId: string): Promise<Client>;
  /** Enables a disabled client. Its users must consent again. */
  enable(clientId: string): Promise<Client>;
}

/**
 * Returns a function that applies a change to the latest stored version of a client. If another change comes
 * first, it tries again.
 */
function changing({ storage: { clients }, clock }: Core, act: Act) {
  return async (
    clientId: string,
    action: string,
    edit: (client: ClientRecord, now: number) => ClientRecord,
    detailsOf: (client: ClientRecord) => JsonObject = () => ({}),
    logo?: Uint8Array | null,
  ): Promise<Client> => {
    for (;;) {
      const found = await clients.find(clientId);
      if (found === null) throw new ClientError('client_not_found', clientId);
      // The partner's state is not stored with the client.
      const { partnerDisabled: _, ...stored } = found;
      if (stored.document !== undefined && !/^client\.(?:disable|enable)$/.test(action))
        throw new TypeError(
          `${clientId} is described by its metadata document: it can be disabled and enabled`,
        );
      const now = clock.now();
      const changed = edit(stored, now);
      const searchName = searchNameOf(changed.name);
      const edited = { ...changed, searchName, updatedAt: now, version: stored.version + 1 };
      if (await clients.replace(edited, act(action, `client:${clientId}`, detailsOf(stored)), logo))
        return shownClient(edited, now);
    }
  };
}

/** Creates the functions that list clients in both directions, and count them. */
const sortedClients = ({
  clock,
  storage: { clients, clientDocuments },
}: Core): Pick<ClientAdministration, 'sorted' | 'count' | 'documents' | 'countDocuments'> => ({
  sorted: (request = {}) =>
    readSortedPage(request, {
      read: (page) => clients.sorted(page),
      shown: (client) => shownClient(client, clock.now()),
      idOf: ({ clientId }) => clientId,
      nameOf: ({ searchName = '' }) => searchName,
    }),
  count: () => clients.count(countedAtMost),
  documents: ({ after, before, limit } = {}) =>
    readSortedPage(
      {
        ...(after !== undefined && { after }),
        ...(before !== undefined && { before }),
        ...(limit !== undefined && { limit }),
      },
      {
        read: (page) =>
          clientDocuments.list({
            ...{ after: page.after?.id ?? null, descending: page.descending, limit: page.limit },
          }),
        shown: (client) => shownClient(client, clock.now()),
        idOf: ({ clientId }) => clientId,
        // The ids alone sort the list.
        nameOf: () => '',
      },
    ),
  countDocuments: () => clientDocuments.count(),
});

/**
 * Returns a function that makes the details of a client's update for the audit log: the new settings, and the
 * settings before.
 */
const updateDetails =
  (settings: JsonObject) =>
  (stored: ClientRecord): JsonObject =>
    withBefore(settings, { ...stored, ...recordedKeys({ jwks: stored.jwks ?? null }) });

/** Checks that a client may get a secret, if need be instead of its keys. @throws TypeError if it may not */
function requireSecretAllowed(client: ClientRecord, mayReplaceKeys: boolean): void {
  const { clientId, profile } = client;
  if (isPublicClient(client)) throw new TypeError(`${clientId} is a public client: it has no secret`);
  if (!hasKeys(client)) return;
  if (profile === 'fapi2')
    throw new TypeError(
      `${clientId} has the profile fapi2, which needs keys and allows no secret: update jwks or jwksUri for other keys, or remove the profile first`,
    );
  if (!mayReplaceKeys)
    throw new TypeError(
      `${clientId} authenticates with keys: it has no secret, and replaceKeys would give it one instead`,
    );
}

export function clientAdministration(core: Core, act: Act, checkTarget: CheckTarget): ClientAdministration {
  const { clients, clientDocuments } = core.storage;
  const change = changing(core, act);
  const scopes = core.options.scopes.names;

  return {
    scopes,

    async create(input) {
      const { client, secret, details } = await clientToCreate(core, input);
      await requireTargets(checkTarget, client);
      const created = act('client.create', `client:${client.clientId}`, details);
      if (!(await clients.insert(client, created))) throw new ClientError('client_exists', client.clientId);
      return { client: shownClient(client, core.clock.now()), clientSecret: secret };
    },

    async check(input) {
      const { client } = await clientToCreate(core, input);
      await requireTargets(checkTarget, client);
      if ((await clients.find(client.clientId)) !== null)
        throw new ClientError('client_exists', client.clientId);
    },

    async get(clientId) {
      const stored = await clients.find(clientId);
      return stored === null ? null : shownClient(stored, core.clock.now());
    },

    async list(request = {}) {
      const store = request.documents === true ? clientDocuments : clients;
      const { page, next } = await listPage(request, {
        read: (limit) => store.list({ after: request.after ?? null, limit }),
        shown: (client) => shownClient(client, core.clock.now()),
        placeOf: ({ clientId }) => clientId,
      });
      return { clients: page, next };
    },

    ...sortedClients(core),

    async update(clientId, changes) {
      const { jwks, jwksUri, ...given } = checked(clientSettings(scopes).partial(), changes);
      requireOptions(core, given);
      const keys = await readKeys(core, { jwks, jwksUri });
      await requirePartner(core, given.partner ?? null);
      await requireTargets(checkTarget, { ...given, ...keys });
      const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const edit = (client: ClientRecord) => {
        const edited = withProfile(core, { ...client, ...set, ...keys });
        refuseOtherKind(client, edited);
        refuseContradiction(edited);
        // A client with keys has no secrets.
        return hasKeys(edited) ? { ...edited, secrets: [] } : edited;
      };
      return change(clientId, 'client.update', edit, updateDetails({ ...set, ...recordedKeys(keys) }));
    },

    async rotateSecret(clientId, { overlapSeconds = 0, replaceKeys = false } = {}) {
      const overlapMs = 1000 * checked(z.int().min(0).max(31_536_000), overlapSeconds, 'overlapSeconds');
      const mayReplaceKeys = checked(z.boolean(), replaceKeys, 'replaceKeys');
      const { secret, record } = newSecret(core, core.clock.now());
      const edit = (stored: ClientRecord, now: number): ClientRecord => {
        requireSecretAllowed(stored, mayReplaceKeys);
        const secrets = [record, ...ending(stored.secrets, now, now + overlapMs)];
        return hasKeys(stored) ? { ...stored, jwks: null, jwksUri: null, secrets } : { ...stored, secrets };
      };
      const details = { overlapSeconds, ...(mayReplaceKeys && { replaceKeys: true }) };
      const client = await change(clientId, 'client.rotate_secret', edit, () => details);
      return { client, clientSecret: secret };
    },

    async setLogo(clientId, png) {
      if (png !== null) (await import('./png.ts')).checkPng(png);
      const logo = png && hash('sha256', png, 'base64url');
      const edit = (client: ClientRecord) => ({ ...client, logo });
      return change(clientId, 'client.set_logo', edit, (stored) => withBefore({ logo }, stored), png);
    },

    disable: (clientId) =>
      change(clientId, 'client.disable', (client, now) => ({
        ...client,
        disabledAt: client.disabledAt ?? now,
      })),

    enable: (clientId) => change(clientId, 'client.enable', (client) => ({ ...client, disabledAt: null })),
  };
}
