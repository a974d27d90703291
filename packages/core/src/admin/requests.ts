import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import type { LoggedRequest } from '../ports/request-log.ts';
import { writePlace } from '../text/list-pages.ts';
import type { Shown } from './checked.ts';
import { shown } from './checked.ts';
import { listPage, type PageRequest, placeAfter } from './paging.ts';

/** A request to the partner API, without its bodies. Times are ISO 8601. */
export type ApiRequest = Shown<Omit<LoggedRequest, 'partner' | 'mode' | 'sent' | 'answered'>>;

/** The log of requests to the partner API, for operators; see the option `requestLog`. */
export interface RequestAdministration {
  /**
   * Requests of a partner, newest first. Pass `next` as `after` to get the following page; it is `null` on
   * the last page.
   * @throws TypeError when an argument is wrong
   */
  list(
    owner: Owner,
    page?: PageRequest & {
      /** Only those that failed. @defaultValue false */
      readonly failed?: boolean;
    },
  ): Promise<{ readonly requests: readonly ApiRequest[]; readonly next: string | null }>;
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
  };
}
