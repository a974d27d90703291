import { z } from 'zod';
import { type Act, withBefore } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { PartnerReach, PartnerRecord } from '../ports/partners.ts';
import { fieldProblems } from '../text/field-problems.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { isReservedName, reservedWords } from '../text/reserved-names.ts';
import { searchNameOf } from '../text/search-name.ts';
import { checked, type Shown, shown } from './checked.ts';
import {
  listPage,
  type PageRequest,
  readSortedPage,
  type SortedRequest,
  type TwoWayPage,
} from './list-page.ts';
import { requiredName } from './names.ts';

/** A partner as administrators see it. Times are ISO 8601. */
export type Partner = Shown<Omit<PartnerRecord, 'version' | 'searchName'>>;

/**
 * A disabled partner, with counts of its keys, clients, codes, tokens and deliveries that ended because the
 * partner was disabled.
 */
export interface DisabledPartner extends Partner {
  readonly ended: PartnerReach;
}

/** An enabled partner, with counts of its keys and clients that work again. */
export interface EnabledPartner extends Partner {
  readonly restored: Pick<PartnerReach, 'keys' | 'clients'>;
}

/** Thrown when an administrator names a partner that does not exist, or a slug that is taken. */
export class PartnerNameError extends Error {
  override readonly name = 'PartnerNameError';
  readonly code: 'partner_not_found' | 'partner_exists';

  constructor(code: 'partner_not_found' | 'partner_exists', slug: string) {
    super(`${code === 'partner_exists' ? 'there is already a partner' : 'there is no partner'} ${slug}`);
    this.code = code;
  }
}

/** Creates, renames, disables and enables partners. */
export interface PartnerAdministration {
  /**
   * Creates a partner. The slug, `[a-z0-9-]{2,40}`, never changes.
   * @throws TypeError if the slug or the name is invalid
   * @throws PartnerNameError `partner_exists`
   */
  create(partner: { readonly slug: string; readonly name: string }): Promise<Partner>;
  get(slug: string): Promise<Partner | null>;
  /**
   * Lists partners by slug. Pass `next` as `after` to get the following page; it is `null` on the last page.
   */
  list(page?: PageRequest): Promise<{ readonly partners: readonly Partner[]; readonly next: string | null }>;
  /**
   * Lists partners by name or by time of creation, in both directions.
   * @throws TypeError if the request is invalid
   */
  sorted(request?: SortedRequest): Promise<TwoWayPage<Partner>>;
  /** Counts partners. Counting stops at 10,000: that result means 10,000 or more. */
  count(): Promise<number>;
  /** Changes the name of a partner. @throws TypeError if the name is invalid; PartnerNameError `partner_not_found` */
  rename(slug: string, name: string): Promise<Partner>;
  /**
   * Disables a partner. From the next request on, in every process, its keys and OAuth clients are refused;
   * the clients' codes and tokens are revoked, its links and sessions of the live portal end, and pending
   * deliveries are cancelled. Remembered consents, which belong to the users, stay. Accepted transfers are
   * executed. May be repeated.
   */
  disable(slug: string): Promise<DisabledPartner>;
  /**
   * Enables a partner, so that its keys and clients work again. Revoked codes and tokens and cancelled
   * deliveries do not come back.
   */
  enable(slug: string): Promise<EnabledPartner>;
}

const slug = z
  .string()
  .regex(/^[a-z0-9-]{2,40}$/, fieldProblems.slug_form)
  .refine((name) => !isReservedName(name), reservedWords);

const shownPartner = ({ version: _, searchName: __, ...partner }: PartnerRecord): Partner => shown(partner);

export function partnerAdministration(core: Core, act: Act, changed: () => void): PartnerAdministration {
  const { partners } = core.storage;

  /**
   * Applies a change to the latest stored version of a partner. If another change comes first, tries again.
   */
  async function change(
    slug: string,
    action: string,
    edit: (partner: PartnerRecord, now: number) => PartnerRecord,
    detailsOf: (partner: PartnerRecord) => JsonObject = () => ({}),
  ): Promise<{ readonly partner: Partner; readonly reach: PartnerReach }> {
    for (;;) {
      const stored = await partners.find(slug);
      if (stored === null) throw new PartnerNameError('partner_not_found', slug);
      const now = core.clock.now();
      const edited = { ...edit(stored, now), updatedAt: now, version: stored.version + 1 };
      const reach = await partners.replace(edited, act(action, `partner:${slug}`, detailsOf(stored)));
      if (reach === null) continue;
      changed();
      return { partner: shownPartner(edited), reach };
    }
  }

  return {
    async create(input) {
      const given = checked(z.strictObject({ slug, name: requiredName }), input);
      const now = core.clock.now();
      const partner: PartnerRecord = {
        ...given,
        searchName: searchNameOf(given.name),
        createdAt: now,
        updatedAt: now,
        disabledAt: null,
        version: 1,
      };
      const created = act('partner.create', `partner:${given.slug}`, { name: given.name });
      if (!(await partners.insert(partner, created)))
        throw new PartnerNameError('partner_exists', given.slug);
      return shownPartner(partner);
    },
    async get(slug) {
      const partner = await partners.find(slug);
      return partner === null ? null : shownPartner(partner);
    },
    async list(request = {}) {
      const { page, next } = await listPage(request, {
        read: (limit) => partners.list({ after: request.after ?? null, limit }),
        shown: shownPartner,
        placeOf: ({ slug }) => slug,
      });
      return { partners: page, next };
    },
    sorted: (request = {}) =>
      readSortedPage(request, {
        read: (page) => partners.sorted(page),
        shown: shownPartner,
        idOf: ({ slug }) => slug,
        nameOf: ({ searchName }) => searchName,
      }),
    count: () => partners.count(countedAtMost),
    async rename(slug, newName) {
      const given = checked(requiredName, newName, 'name');
      const rename = (partner: PartnerRecord) => ({
        ...partner,
        name: given,
        searchName: searchNameOf(given),
      });
      const details = (partner: PartnerRecord) => withBefore({ name: given }, partner);
      return (await change(slug, 'partner.rename', rename, details)).partner;
    },
    async disable(slug) {
      const { partner, reach } = await change(slug, 'partner.disable', (stored, now) => ({
        ...stored,
        disabledAt: stored.disabledAt ?? now,
      }));
      return { ...partner, ended: reach };
    },
    async enable(slug) {
      const enable = (stored: PartnerRecord) => ({ ...stored, disabledAt: null });
      const { partner, reach } = await change(slug, 'partner.enable', enable);
      const { keys, clients } = reach;
      return { ...partner, restored: { keys, clients } };
    },
  };
}
