import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import type { LoggedRequest } from '../ports/request-log.ts';
import { writePlace } from '../text/list-pages.ts';
import type { Shown } from './checked.ts';
import { shown } from './checked.ts';
import { listPage, type PageRequest, placeAfter } from './list-page.ts';

/** A logged request to the partner API, without its bodies. Times are ISO 8601. */
export type ApiRequest = Shown<Omit<LoggedRequest, 'partner' | 'mode' | 'sent' | 'answered'>>;

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
  /** Returns a logged request with its bodies; `null` if the partner has no such request in this mode. */
  get(owner: Owner, id: string): Promise<ApiRequest | null>;
}

function shownRequest(request: LoggedRequest): ApiRequest {
  const { partner: _, mode: __, sent: ___, answered: ____, ...told } = request;
  return shown(told);
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
    async get({ partner, mode }, id) {
      const found = await requestLog.find({ partner, mode }, id);
      return found === null ? null : shownRequest(found);
    },
  };
}
