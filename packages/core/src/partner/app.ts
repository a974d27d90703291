import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { hasBody, readBody } from '../http/body.ts';
import { breakOff } from '../http/break-off.ts';
import { writeJson } from '../http/headers.ts';
import type { Route } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { StoredRequest } from '../ports/idempotency.ts';
import type { AskedWithCount } from '../ports/rate-limits.ts';
import { apiKeyHeader } from '../secrets/api-key-format.ts';
import type { Admission } from './pipeline/admission.ts';
import { parseBody, parsePath, parseQuery } from './pipeline/body.ts';
import { type Idempotency, usableKeyOf } from './pipeline/idempotency.ts';
import type { KeyCheck } from './pipeline/key.ts';
import { checkSignature } from './pipeline/signature.ts';
import type { PartnerAnswer, PartnerRequest, PartnerRoute } from './request.ts';
import type { RequestNotes } from './request-log.ts';

/**
 * Sends a stream. Its first part is made before the status is sent, so that a database that does not answer is
 * still a 503.
 */
async function writeStream(
  core: Core,
  ctx: Context,
  answer: Extract<PartnerAnswer, { stream: unknown }>,
): Promise<void> {
  const parts = answer.stream[Symbol.asyncIterator]();
  const first = await parts.next();
  async function* all(): AsyncGenerator<string> {
    try {
      if (first.done !== true) yield first.value;
      yield* { [Symbol.asyncIterator]: () => parts };
    } catch (error) {
      const requestId = ctx.state.headers['X-Request-Id'];
      core.options.logger.error({ requestId, path: ctx.state.route, err: error }, 'an answer broke off');
      // Koa would leave the connection open.
      breakOff(ctx.res);
    }
  }
  ctx.status = answer.status;
  ctx.set('Content-Type', answer.type);
  if (answer.fileName !== undefined)
    ctx.set('Content-Disposition', `attachment; filename="${answer.fileName}"`);
  ctx.body = Readable.from(all(), { objectMode: false, highWaterMark: 64 * 1024 });
}

async function writeAnswer(core: Core, ctx: Context, answer: PartnerAnswer): Promise<void> {
  if ('stream' in answer) return await writeStream(core, ctx, answer);
  if (answer.replayed === true) ctx.state.headers['Idempotent-Replayed'] = 'true';
  const json = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  ctx.state.answered = json;
  writeJson(ctx, answer.status, json);
}

function headerOnce(ctx: Context, name: string): string | undefined {
  const value = ctx.req.headers[name];
  // Node joins repeated headers of this kind with a comma, which no key contains.
  return typeof value === 'string' ? value : undefined;
}

/** As Node names it. */
const keyHeader = apiKeyHeader.toLowerCase();

const noBytes = Buffer.alloc(0);

/** What the pipeline is made of. */
export interface PipelineParts {
  readonly keys: KeyCheck;
  readonly admission: Admission;
  readonly notes: RequestNotes;
  readonly idempotency: Idempotency;
}

/**
 * Builds the partner API from its table: every route goes through the same steps, in the order that is
 * documented.
 */
export function createPartnerApi(
  core: Core,
  table: readonly PartnerRoute[],
  { keys, admission, notes, idempotency }: PipelineParts,
): Route[] {
  const { clock } = core;

  async function pass(ctx: Context, route: PartnerRoute): Promise<PartnerAnswer> {
    const { req } = ctx;
    const startedAt = clock.now();
    const found = await keys.find(headerOnce(ctx, keyHeader));
    const { partner, mode } = found.key;
    notes.note(ctx, found.key, startedAt);
    // The address is worked out when it is asked for: hardly a request needs it.
    const asking = { address: () => core.clientAddress(req), now: clock.now() };
    const name = route.idempotent ? usableKeyOf(req) : null;
    const idempotencyKey = name === null ? null : { partner, mode, key: name };
    let isCounted = false;
    const count = async (consent: AskedWithCount['consent']) => {
      isCounted = true;
      const counted = await admission.admit(route, found, asking, { idempotencyKey, consent });
      Object.assign(ctx.state.headers, counted.headers);
      return counted;
    };
    if (route.countsLate !== true) {
      const { earlier } = await count(null);
      return await handle(ctx, route, { ...asking, key: found.key, count }, earlier);
    }
    await admission.check(route, found, asking);
    try {
      return await handle(ctx, route, { ...asking, key: found.key, count });
    } catch (error) {
      if (!isCounted) await count(null);
      throw error;
    }
  }

  /** @param earlier - the record of the request's `Idempotency-Key`, where it was looked up already */
  async function handle(
    ctx: Context,
    route: PartnerRoute,
    { key, address, now, count }: Pick<PartnerRequest, 'key' | 'address' | 'now' | 'count'>,
    earlier?: StoredRequest | null,
  ): Promise<PartnerAnswer> {
    const { req } = ctx;
    const bytes = hasBody(req) ? await readBody(req) : noBytes;
    ctx.state.sent = bytes;
    checkSignature(core, key, req, bytes, now);
    const request: PartnerRequest = {
      partner: key.partner,
      mode: key.mode,
      key,
      address,
      count,
      path: parsePath(route, ctx.params),
      query: parseQuery(route, ctx.querystring),
      body: parseBody(route, bytes, req.headers),
      idempotency: route.idempotent
        ? idempotency.read(req, {
            method: route.method,
            // The path itself: one body may be sent to several resources.
            route: ctx.newRouterPath ?? route.path,
            body: bytes,
            now,
          })
        : null,
      now,
    };
    return await idempotency.answer(route, request, earlier);
  }

  return routesOf(table, async (ctx, route) => await writeAnswer(core, ctx, await pass(ctx, route)));
}

/** The table as routes of the shell, of which each path has one. */
function routesOf(
  table: readonly PartnerRoute[],
  answer: (ctx: Context, route: PartnerRoute) => Promise<void>,
): Route[] {
  return [...Map.groupBy(table, ({ path }) => path)].map(([path, methods]) => ({
    path,
    summary: methods.map((route) => route.summary).join(' '),
    below: 'baseUrl',
    errors: 'partner',
    handlers: Object.fromEntries(
      methods.map((route) => [route.method, (ctx: Context) => answer(ctx, route)]),
    ),
  }));
}
