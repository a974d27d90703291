import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { readParameters } from '../http/body.ts';
import { type FormTokens, requireOwnOrigin } from '../http/csrf.ts';
import { addressLimit, secondsUntil } from '../http/rate-limit.ts';
import type { Handler } from '../http/route.ts';
import { type SignInView, signInPage } from '../pages/console/sign-in.ts';
import type { Access } from './access.ts';
import { answerPage, languageOf, seeOther } from './answer.ts';
import { consoleUrl } from './paths.ts';
import type { Sessions } from './session.ts';

/** Failed sign-ins of a client address in a minute. */
const maxFailures = 60;

const purpose: [string] = ['sandbox console sign-in'];

/** The page for those who are not signed in. What was typed in is never sent back. */
export function showSignIn(
  core: Core,
  forms: FormTokens,
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
  { sessions, access, forms }: { sessions: Sessions; access: Access; forms: FormTokens },
): Handler {
  const failures = addressLimit(undefined, { name: purpose[0], limit: maxFailures });

  return async (ctx) => {
    requireOwnOrigin(ctx.req, core.options.authUrl);
    const form = await readParameters(ctx.req);
    forms.check(form.get('csrf'), purpose);
    const now = core.clock.now();
    const address = core.clientAddress(ctx.req);
    const { allowed, endsAt } = await failures.peek(address, now);
    if (!allowed) {
      ctx.set('Retry-After', secondsUntil(endsAt, now));
      return showSignIn(core, forms, ctx, { problem: 'too_many' });
    }
    const key = await access.byText(form.get('key') ?? '', ctx.req);
    if (key === null) {
      await failures.consume(address, now);
      return showSignIn(core, forms, ctx, { problem: 'refused' });
    }
    core.options.logger.info({ key: key.id, partner: key.partner }, 'signed in to the sandbox console');
    sessions.start(ctx, key.id);
    seeOther(ctx, consoleUrl(core, 'home'));
  };
}
