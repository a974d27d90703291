import { z } from 'zod';
import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import type { LoggedRequest } from '../ports/request-log.ts';
import { countedAtMost, writePlace } from '../text/list-pages.ts';
import { checked, type Shown, shown } from './checked.ts';
import {
  listPage,
  type PageRequest,
  placeAfter,
  readTimedPage,
  type TimedRequest,
  type TwoWayPage,
} from './list-page.ts';
import { type EverywhereSearch, everywhere } from './webhook-lists.ts';

/** A logged request to the partner API, without its bodies. Times are ISO 8601. */
export type ApiRequest = Shown<Omit<LoggedRequest, 'partner' | 'mode' | 'sent' | 'answered'>>;

/** A logged API request of any partner, without its bodies. Times are in ISO 8601. */
export type PartnerRequest = Shown<Omit<LoggedRequest, 'sent' | 'answered'>>;

/** Filters for a list of all partners' API requests. */
export interface RequestSearch extends EverywhereSearch {
  /** True to list failed requests only. @defaultValue false */
  readonly failed?: boolean;
  /** Latest time of the listed requests. */
  readonly until?: Date;
}

const search = everywhere.extend({ failed: z.boolean().default(false), until: z.date().optional() });

/** Reads the log of requests to the partner API; see the option `requestLog`. */
export interface RequestAdministration {
  /**
   * Lists logged requests of a partner, newest first. Pass `next` as `after` to get the following page; it is
   * `null` on the last page.
   * @throws TypeError if an argument is invalid
   */
  list(
    owner: Owner,
    page?: PageRequest & {
      /** True to list failed requests only. @defaultValue false */
      readonly failed?: boolean;
    },
  ): Promise<{ readonly requests: readonly ApiRequest[]; readonly next: string | null }>;
  /**
   * Lists API requests of all partners by time, newest or oldest first.
   * @throws TypeError if an argument is invalid
   */
  sorted(request?: TimedRequest & RequestSearch): Promise<TwoWayPage<PartnerRequest>>;
  /**
   * Counts the logged requests that match a search. The count stops at 10,000, which means 10,000 or more.
   */
  count(search?: RequestSearch): Promise<number>;
  /** Returns a request; `null` if the partner has no such request in this mode. */
  get(owner: Owner, id: string): Promise<ApiRequest | null>;
}

function shownRequest(request: LoggedRequest): ApiRequest {
  const { partner: _, mode: __, sent: ___, answered: ____, ...entry } = request;
  return shown(entry);
}

function choiceOf(given: { readonly [Name in keyof RequestSearch]?: RequestSearch[Name] | undefined }) {
  const { mode, partner = null, failed, until } = checked(search, given);
  return { mode, partner, failed, until: until?.getTime() ?? null };
}

function partnerRequest({ sent: _, answered: __, ...request }: LoggedRequest): PartnerRequest {
  return shown(request);
}

export function requestAdministration({ storage: { requestLog } }: Core): RequestAdministration {
  return {
    async list({ partner, mode }, { failed = false, ...request } = {}) {
      const after = placeAfter(request);
      const { page, next } = await listPage(request, {
        read: (limit) => requestLog.list({ partner, mode, failed, after, limit }),
        shown: shownRequest,
        placeOf: ({ createdAt, id }) => writePlace({ time: createdAt, id }),
      });
      return { requests: page, next };
    },
    async sorted({ mode, partner, failed, until, ...request } = {}) {
      const choice = choiceOf({ mode, partner, failed, until });
      return readTimedPage(request, {
        read: (page) => requestLog.list({ ...choice, ...page }),
        shown: partnerRequest,
        placeOf: ({ createdAt, id }) => ({ time: createdAt, id }),
      });
    },
    count: async (search = {}) => requestLog.count(choiceOf(search), countedAtMost),
    async get({ partner, mode }, id) {
      const found = await requestLog.find({ partner, mode }, id);
      return found === null ? null : shownRequest(found);
    },
  };
}
