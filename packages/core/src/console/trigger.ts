import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { OAuthError, PartnerError } from '../errors.ts';
import { unknownType } from '../events.ts';
import { JsonError, parseJson } from '../http/json.ts';
import type { Handler } from '../http/route.ts';
import { type TriggerView, triggerPage } from '../pages/console/trigger.ts';
import type { Webhooks } from '../webhooks/create.ts';
import { answerPage, contextOf, seeOther } from './answer.ts';
import type { Guard } from './guard.ts';
import { consoleUrl } from './paths.ts';
import type { Visit } from './visit.ts';

/** The data that was written, or why it is none. */
function readData(text: string): { readonly data: object } | { readonly problem: TriggerView['problem'] } {
  try {
    const data = parseJson(text);
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
    return isObject ? { data } : { problem: 'notObject' };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { problem: { words: error.message } };
  }
}

/** The words of the rule that refused some data; a failure that is none is passed on. */
function problemOf(error: unknown): TriggerView['problem'] {
  if (!(error instanceof PartnerError) || error.code !== 'invalid_request') throw error;
  const [detail] = error.details;
  return { words: detail === undefined ? error.description : `${detail.path}: ${detail.message}` };
}

/** The form for a test event with data of one's own, and the trigger itself. */
export function triggerHandlers(
  core: Core,
  { trigger, catalogue }: Webhooks,
  guard: Guard,
): { readonly GET: Handler; readonly POST: Handler } {
  function show(
    ctx: Context,
    visit: Visit,
    { type, data, problem }: Pick<TriggerView, 'type' | 'data' | 'problem'>,
  ): void {
    const context = contextOf(core, ctx, visit, consoleUrl(core, 'trigger', { type }));
    answerPage(ctx, triggerPage({ ...context, type, data, problem }), problem === null ? 200 : 400);
  }

  function knownType(type: unknown): string {
    if (typeof type === 'string' && catalogue.has(type)) return type;
    throw new OAuthError('not_found', `type: ${unknownType(type, catalogue.types)}`);
  }

  return {
    GET: guard.page(async (ctx, visit) => {
      const type = knownType(ctx.query.type);
      show(ctx, visit, { type, data: JSON.stringify(catalogue.example(type), null, 2), problem: null });
    }),

    POST: guard.action(async (ctx, visit, form) => {
      const type = knownType(form.get('type'));
      if (form.get('step') === 'edit') return seeOther(ctx, consoleUrl(core, 'trigger', { type }));
      const text = form.get('data');
      const read = text === undefined ? { data: undefined } : readData(text);
      if ('problem' in read) return show(ctx, visit, { type, data: text ?? '', problem: read.problem });
      const { owner, now } = visit;
      let sent: string;
      try {
        sent = (await trigger({ ...owner, now, idempotency: null, type, data: read.data })).body;
      } catch (error) {
        return show(ctx, visit, { type, data: text ?? '', problem: problemOf(error) });
      }
      const { id } = JSON.parse(sent) as { readonly id: string };
      seeOther(ctx, consoleUrl(core, 'event', { id, notice: 'sent' }));
    }),
  };
}
