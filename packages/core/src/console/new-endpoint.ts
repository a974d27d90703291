import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { PartnerError } from '../errors.ts';
import type { Handler } from '../http/route.ts';
import { type NewEndpointView, newEndpointPage, typeField } from '../pages/console/new-endpoint.ts';
import type { Webhooks } from '../webhooks/create.ts';
import { answerPage, contextOf, seeOther } from './answer.ts';
import type { Guard } from './guard.ts';
import { consoleUrl } from './paths.ts';
import type { Visit } from './visit.ts';

type Problem = NewEndpointView['problems'][number];

/** Lengths that the partner API allows, too. */
const urlLength = { least: 1, most: 2048 };
const secretLength = { least: 16, most: 256 };

const fits = ({ length }: string, { least, most }: typeof urlLength): boolean =>
  length >= least && length <= most;

/** The words of a rule that refused an endpoint; a failure that is none is passed on. */
function problemsOf(error: unknown): Problem[] {
  if (!(error instanceof PartnerError) || error.code !== 'invalid_request') throw error;
  const messages = error.details.map(({ message }) => message);
  return (messages.length > 0 ? messages : [error.description]).map((words) => ({ words }));
}

/** The form for an endpoint, and its answer. The secret is never sent back. */
export function newEndpointHandlers(
  core: Core,
  { endpoints, catalogue }: Webhooks,
  guard: Guard,
): { readonly GET: Handler; readonly POST: Handler } {
  function show(
    ctx: Context,
    visit: Visit,
    { filled, problems }: Pick<NewEndpointView, 'filled' | 'problems'>,
  ): void {
    const page = newEndpointPage({
      ...contextOf(core, ctx, visit, consoleUrl(core, 'endpoints')),
      types: catalogue.types,
      filled,
      problems,
    });
    answerPage(ctx, page, problems.length === 0 ? 200 : 400);
  }

  return {
    GET: guard.page(async (ctx, visit) =>
      show(ctx, visit, { filled: { url: '', types: ['*'] }, problems: [] }),
    ),

    POST: guard.action(async (ctx, visit, form) => {
      const { owner, now } = visit;
      const url = (form.get('url') ?? '').trim();
      const secret = form.get('secret') ?? '';
      const types = ['*', ...catalogue.types].filter((type) => form.has(`${typeField}${type}`));
      const problems: Problem[] = [];
      if (!fits(url, urlLength)) problems.push('badUrl');
      if (!fits(secret, secretLength)) problems.push('badSecret');
      if (types.length === 0) problems.push('badTypes');
      const filled = { url: url.slice(0, urlLength.most), types };
      if (problems.length > 0) return show(ctx, visit, { filled, problems });
      const events = types.includes('*') ? ['*'] : types;
      try {
        await endpoints.create({ ...owner, now, idempotency: null, settings: { url, secret, events } });
      } catch (error) {
        return show(ctx, visit, { filled, problems: problemsOf(error) });
      }
      seeOther(ctx, consoleUrl(core, 'home', { notice: 'endpoint_added' }));
    }),
  };
}
