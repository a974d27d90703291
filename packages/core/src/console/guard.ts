import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { OAuthError, PartnerError } from '../errors.ts';
import { fixedWindows, secondsUntil } from '../fixed-windows.ts';
import { readParameters } from '../http/body.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import type { Handler } from '../http/route.ts';
import type { Owner } from '../ports/owner.ts';
import type { Access } from './access.ts';
import { seeOther } from './answer.ts';
import { consoleUrl } from './paths.ts';
import type { Sessions } from './session.ts';
import type { Visit } from './visit.ts';

/** Requests of a key in a minute at most, pages that keep themselves up to date included. */
const maxRequests = 600;

/** Guards handlers: nobody gets past who is not signed in. */
export interface Guard {
  /** @param otherwise - what others get; without it they are sent to the first page, which asks for a key */
  page(
    handle: (ctx: Context, visit: Visit) => Promise<void>,
    otherwise?: (ctx: Context, reason: 'new' | 'ended') => void,
  ): Handler;
  /** The form that was posted, after it was found to come from this session. */
  action(handle: (ctx: Context, visit: Visit, form: ReadonlyMap<string, string>) => Promise<void>): Handler;
}

/** What a topic says of a missing resource, in the words that pages understand. */
function translated(error: unknown): unknown {
  return error instanceof PartnerError && error.code === 'not_found' ? new OAuthError('not_found') : error;
}

/** See {@link Guard}. */
export function createGuard(
  core: Core,
  { sessions, access, forms }: { sessions: Sessions; access: Access; forms: Forms },
): Guard {
  const requests = fixedWindows();

  async function count({ partner: bucket }: Owner, now: number): Promise<void> {
    const { allowed, endsAt } = await requests.consume({ bucket, limit: maxRequests, windowMs: 60_000, now });
    if (allowed) return;
    throw new OAuthError('slow_down', undefined, {
      headers: { 'Retry-After': secondsUntil(endsAt, now) },
    });
  }

  function sendHome(ctx: Context, reason: 'new' | 'ended'): void {
    seeOther(ctx, consoleUrl(core, 'home', { notice: reason === 'ended' ? reason : undefined }));
  }

  const guarded =
    (
      handle: (ctx: Context, visit: Visit, purpose: FormPurpose) => Promise<void>,
      otherwise = sendHome,
    ): Handler =>
    async (ctx) => {
      const session = await sessions.read(ctx);
      const key = session === null ? null : await access.byId(session.keyId, ctx.req);
      if (session === null || key === null) {
        const isEnded = sessions.isClaimed(ctx);
        if (isEnded) await sessions.end(ctx);
        return otherwise(ctx, isEnded ? 'ended' : 'new');
      }
      const now = core.clock.now();
      const owner = { partner: key.partner, mode: 'test' } as const;
      await count(owner, now);
      const purpose: FormPurpose = ['sandbox console', session.keyId, session.id];
      try {
        await handle(ctx, { owner, now, csrfToken: forms.issue(purpose) }, purpose);
      } catch (error) {
        throw translated(error);
      }
    };

  return {
    page: (handle, otherwise) => guarded((ctx, visit) => handle(ctx, visit), otherwise),
    action: (handle) =>
      guarded(async (ctx, visit, purpose) => {
        forms.requireOwnOrigin(ctx.req, purpose[0]);
        const form = await readParameters(ctx.req);
        forms.check(form.get('csrf'), purpose);
        await handle(ctx, visit, form);
      }),
  };
}
