import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { secondsUntil } from '../fixed-windows.ts';
import { addressLimit } from '../http/address-limit.ts';
import { readParameters } from '../http/body.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import type { Handler } from '../http/route.ts';
import { type SignInView, signInPage } from '../pages/console/sign-in.ts';
import type { Access } from './access.ts';
import { answerPage, languageOf, seeOther } from './answer.ts';
import { consoleUrl } from './paths.ts';
import type { Sessions } from './session.ts';

/** Sign-ins that a client address tries in a minute: each one that goes well is stored. */
const maxAttempts = 60;

const purpose: FormPurpose = ['sandbox console sign-in'];

/** The page for those who are not signed in. What was typed in is never sent back. */
export function showSignIn(
  core: Core,
  forms: Forms,
  ctx: Context,
  { problem = null, notice = null }: Partial<Pick<SignInView, 'problem' | 'notice'>>,
): void {
  const status = { refused: 401, too_many: 429 };
  const page = signInPage({
    theme: core.options.theme,
    language: languageOf(ctx),
    keyPrefix: `${core.options.prefix}_test_`,
    action: consoleUrl(core, 'signIn'),
    csrfToken: forms.issue(purpose),
    problem,
    notice,
  });
  answerPage(ctx, page, problem === null ? 200 : status[problem]);
}

/** Signs a partner in with a test key. Every key that does not open the console is refused alike. */
export function signInHandler(
  core: Core,
  { sessions, access, forms }: { sessions: Sessions; access: Access; forms: Forms },
): Handler {
  const attempts = addressLimit(undefined, { name: purpose[0], limit: maxAttempts });

  return async (ctx) => {
    forms.requireOwnOrigin(ctx.req, purpose[0]);
    const form = await readParameters(ctx.req);
    forms.check(form.get('csrf'), purpose);
    const now = core.clock.now();
    const { allowed, endsAt } = await attempts.consume(core.clientAddress(ctx.req), now);
    if (!allowed) {
      ctx.set('Retry-After', secondsUntil(endsAt, now));
      return showSignIn(core, forms, ctx, { problem: 'too_many' });
    }
    const key = await access.byText(form.get('key') ?? '', ctx.req);
    if (key === null) return showSignIn(core, forms, ctx, { problem: 'refused' });
    core.options.logger.info({ key: key.id, partner: key.partner }, 'signed in to the sandbox console');
    await sessions.start(ctx, key.id);
    seeOther(ctx, consoleUrl(core, 'home'));
  };
}
