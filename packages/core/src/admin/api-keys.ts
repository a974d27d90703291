import { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { ApiKeyRecord, KeyScope } from '../ports/api-keys.ts';
import type { Mode } from '../ports/partners.ts';
import { apiKeyFormat, signingSecretContext } from '../secrets/api-key-format.ts';
import { digest, randomSecret } from '../secrets/tokens.ts';
import { fieldProblems } from '../text/field-problems.ts';
import { isAddressRange } from '../text/ip-address.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { searchNameOf } from '../text/search-name.ts';
import { checked, type Shown, shown } from './checked.ts';
import { readSortedPage, type SortedRequest, type TwoWayPage } from './list-page.ts';
import { shownName } from './names.ts';
import { PartnerNameError } from './partners.ts';

/** An API key as administrators see it, without the key itself. Times are ISO 8601. */
export type ApiKey = Shown<Omit<ApiKeyRecord, 'digest' | 'sealedSigningSecret' | 'quotaId' | 'searchName'>>;

/** Settings of an API key to issue. */
export interface NewApiKey {
  /** Slug of the partner that gets the key. */
  readonly partner: string;
  readonly mode: Mode;
  /** Label by which administrators tell a partner's keys apart. @defaultValue `""` */
  readonly name?: string;
  /** Scopes of the key; at least one. */
  readonly scopes: readonly KeyScope[];
  /**
   * IP addresses and CIDR ranges from which the key may be used. An empty list is refused.
   * @defaultValue every address is allowed
   */
  readonly allowlist?: readonly string[];
  /**
   * Makes the API refuse requests that have a body but no signature. A signature proves that the partner sent
   * the body, but not that the request is new: ask the partner for a `reference` in every payment.
   * @defaultValue false
   */
  readonly requireSignature?: boolean;
  /** Time at which the API key expires. @defaultValue never */
  readonly expiresAt?: Date;
}

/** A new API key with its secrets, which are returned only here. */
export interface IssuedApiKey {
  readonly apiKey: ApiKey;
  /** The API key, sent in the header `X-API-Key`. */
  readonly key: string;
  /** Secret with which the partner signs requests. */
  readonly signingSecret: string;
}

/**
 * Thrown when an administrator names an API key that does not exist, or rolls one that is revoked or expired.
 */
export class ApiKeyError extends Error {
  override readonly name = 'ApiKeyError';
  readonly code: 'key_not_found' | 'key_ended';

  constructor(code: 'key_not_found' | 'key_ended', id: string) {
    super(code === 'key_not_found' ? `there is no key ${id}` : `the key ${id} has ended`);
    this.code = code;
  }
}

/** Issues, lists, rolls and revokes API keys of partners. */
export interface ApiKeyAdministration {
  /**
   * Issues an API key. Returns the key and its signing secret, which cannot be read again.
   * @throws TypeError if a setting is invalid
   * @throws PartnerNameError `partner_not_found`
   */
  issue(key: NewApiKey): Promise<IssuedApiKey>;
  /** Lists the API keys of a partner, newest first. */
  list(partner: string): Promise<readonly ApiKey[]>;
  /**
   * Lists the API keys of all partners by name or by time of creation, in both directions.
   * @throws TypeError if the request is invalid
   */
  sorted(request?: SortedRequest): Promise<TwoWayPage<ApiKey>>;
  /** Counts the API keys of all partners. Counting stops at 10,000: that result means 10,000 or more. */
  count(): Promise<number>;
  /**
   * Revokes an API key: it is refused from the next request on, in every process. May be repeated.
   * @throws ApiKeyError `key_not_found`
   */
  revoke(id: string): Promise<void>;
  /**
   * Replaces an API key: issues a successor with the same rights and expiry and a new signing secret. The old
   * key stays valid for the overlap, unless it expires sooner. Both keys share their rate limits. A key may be
   * rolled again within its overlap, such as when the successor was lost: the overlap ends the old key only.
   * @throws TypeError if the overlap is invalid
   * @throws ApiKeyError if the key does not exist, or is revoked or expired
   */
  roll(
    id: string,
    options?: {
      /** Seconds for which the old key stays valid, up to 90 days. @defaultValue 86400 */
      readonly overlapSeconds?: number;
    },
  ): Promise<IssuedApiKey>;
}

/** All scopes that an API key can have. */
export const keyScopes = [
  'identity:verify',
  'payments:write',
  'payments:read',
  'users:read',
  'webhooks',
  'reconciliation:read',
] as const satisfies readonly KeyScope[];

const overlap = z.int().min(0).max(7_776_000);

const newKey = z.strictObject({
  partner: z.string(),
  mode: z.enum(['live', 'test']),
  name: shownName.default(''),
  scopes: z.array(z.enum(keyScopes)).min(1),
  allowlist: z
    .array(z.string().refine(isAddressRange, fieldProblems.address_range))
    .min(1)
    .max(100)
    .optional(),
  requireSignature: z.boolean().default(false),
  expiresAt: z.date().optional(),
});

/** Returns the rights of an API key, to be copied to the key that replaces it. */
function rightsOf(key: ApiKeyRecord) {
  const { id, partner, mode, name, scopes, allowlist, requireSignature, expiresAt } = key;
  return { id, partner, mode, name, scopes, allowlist, requireSignature, expiresAt };
}

/** Converts a stored API key to the form that administrators see. */
function shownKey(key: ApiKeyRecord): ApiKey {
  const { expiresAt, ...rights } = rightsOf(key);
  const { start, createdAt, revokedAt, lastUsedAt } = key;
  return shown({ ...rights, start, createdAt, expiresAt, revokedAt, lastUsedAt });
}

export function apiKeyAdministration(core: Core, act: Act, changed: () => void): ApiKeyAdministration {
  const { apiKeys } = core.storage;
  const format = apiKeyFormat(core.options.prefix);

  function create(
    rights: Omit<ReturnType<typeof rightsOf>, 'id'>,
    quotaId: string | null,
    now: number,
  ): IssuedApiKey & { readonly record: ApiKeyRecord } {
    const id = `key_${core.random.bytes(12).toString('hex')}`;
    const key = format.newKey(rights.mode, core.random);
    const signingSecret = `${core.options.prefix}_sign_${randomSecret(core.random)}`;
    const record: ApiKeyRecord = {
      ...rights,
      id,
      searchName: searchNameOf(rights.name),
      start: format.startOf(key),
      digest: digest(key),
      sealedSigningSecret: core.sealer.seal(signingSecret, signingSecretContext(id)),
      quotaId: quotaId ?? id,
      createdAt: now,
      revokedAt: null,
      lastUsedAt: null,
    };
    return { record, apiKey: shownKey(record), key, signingSecret };
  }

  /**
   * Returns the expiry with which an API key was issued. An earlier roll has shortened the key's own expiry to
   * the end of its overlap, but its newest successor still has the original one.
   */
  async function issuedExpiry({ partner, quotaId }: ApiKeyRecord): Promise<number | null> {
    const family = (await apiKeys.list(partner)).filter((key) => key.quotaId === quotaId);
    const latest = Math.max(...family.map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(latest) ? latest : null;
  }

  return {
    async issue(input) {
      const given = checked(newKey, input);
      const now = core.clock.now();
      const expiresAt = given.expiresAt?.getTime() ?? null;
      if (expiresAt !== null && !(expiresAt > now)) throw new TypeError('expiresAt: has to be in the future');
      const { record, ...issued } = create(
        { ...given, scopes: [...new Set(given.scopes)], allowlist: given.allowlist ?? null, expiresAt },
        null,
        now,
      );
      const { id, ...rights } = rightsOf(record);
      const details = { ...rights, expiresAt: given.expiresAt?.toISOString() ?? null };
      if (!(await apiKeys.insert(record, act('key.issue', `key:${id}`, details))))
        throw new PartnerNameError('partner_not_found', given.partner);
      return issued;
    },
    async list(partner) {
      return (await apiKeys.list(partner)).map(shownKey);
    },
    sorted: (request = {}) =>
      readSortedPage(request, {
        read: (page) => apiKeys.sorted(page),
        shown: shownKey,
        idOf: ({ id }) => id,
        nameOf: ({ searchName }) => searchName,
      }),
    count: () => apiKeys.count(countedAtMost),
    async revoke(id) {
      const key = await apiKeys.find(id);
      if (key === null) throw new ApiKeyError('key_not_found', id);
      const { partner, mode, name } = key;
      await apiKeys.revoke(id, core.clock.now(), act('key.revoke', `key:${id}`, { partner, mode, name }));
      changed();
    },
    async roll(id, { overlapSeconds = 86_400 } = {}) {
      const overlapMs = 1000 * checked(overlap, overlapSeconds, 'overlapSeconds');
      const old = await apiKeys.find(id);
      if (old === null) throw new ApiKeyError('key_not_found', id);
      const now = core.clock.now();
      const rights = { ...rightsOf(old), expiresAt: await issuedExpiry(old) };
      const { record, ...issued } = create(rights, old.quotaId, now);
      const { partner, mode, name } = old;
      const details = { partner, mode, name, successor: record.id, overlapSeconds };
      const audit = act('key.roll', `key:${id}`, details);
      if (!(await apiKeys.roll({ id, successor: record, endsAt: now + overlapMs, now, audit })))
        throw new ApiKeyError('key_ended', id);
      changed();
      return issued;
    },
  };
}
