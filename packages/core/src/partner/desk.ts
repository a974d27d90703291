import { PartnerError } from '../errors.ts';
import { addressLimit } from '../http/address-limit.ts';
import { readParameters } from '../http/body.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import { fixedWindows, secondsUntil } from '../limits/fixed-windows.ts';
import type { LimitGroup } from '../limits/request-limits.ts';
import type { Core } from '../options/context.ts';
import type { ApiKeyState } from '../ports/api-keys.ts';
import type { ConsoleDesk, ConsoleRequest, ConsoleVisit, PartnerConsole } from '../ports/console.ts';
import type { RateLimitState, RateLimitStore } from '../ports/rate-limits.ts';
import { apiKeyHeader } from '../secrets/api-key-format.ts';
import { digest, randomSecret } from '../secrets/tokens.ts';
import { urlBelow } from '../text/urls.ts';
import type { Credential } from './pipeline/key.ts';
import type { PartnerCall, Pipeline } from './pipeline/pipeline.ts';
import type { PartnerOperation, PartnerRoute } from './request.ts';

/** Life of a session from the sign-in, in milliseconds. */
const sessionLifetimeMs = 8 * 3600_000;

/** Sign-ins of one client address in a minute: each successful one is stored. */
const maxSignIns = 60;

/** Sessions of one partner in an hour: a key that is used from many addresses must not fill the storage. */
const maxOpened = 120;

/** Returns the digest under which a session is stored, apart from other records of the sandbox. */
const recordOf = (session: string): Buffer => digest(`console session ${session}`);

/** @throws PartnerError `rate_limit_exceeded` */
function requireAllowed({ allowed, endsAt }: RateLimitState, now: number): void {
  if (allowed) return;
  throw new PartnerError('rate_limit_exceeded', { headers: { 'Retry-After': secondsUntil(endsAt, now) } });
}

const purposeOf = (visitor: string): FormPurpose => ['console', visitor];

/** Parts of the partner API that a console works with. */
export interface DeskParts {
  readonly pipeline: Pipeline;
  readonly operations: readonly PartnerOperation[];
  /** The routes of the partner API. */
  readonly table: readonly PartnerRoute[];
  readonly forms: Forms;
  /** Counts of all processes, where there are such. */
  readonly counts: RateLimitStore;
}

const noBytes = Buffer.alloc(0);

/** Headers of what a console sends. */
const json = { 'content-type': 'application/json' };

/** Takes requests of a console through the pipeline: its sessions, and the operations that its pages call. */
function consoleCalls(
  core: Core,
  { opensWith }: PartnerConsole,
  { pipeline, operations }: Pick<DeskParts, 'pipeline' | 'operations'>,
) {
  const byName = new Map(operations.map((operation) => [operation.operation, operation]));

  /** Opens the console for a key. */
  const opening: PartnerOperation = {
    ...opensWith,
    operation: 'openConsole',
    handle: async () => ({ status: 200, body: {} }),
  };

  function callOf({ raw }: ConsoleRequest, operation: PartnerOperation, credential: Credential): PartnerCall {
    return {
      operation,
      credential,
      address: () => core.clientAddress(raw),
      limit: null,
      headers: json,
      idempotencyKeys: [],
      path: {},
      querystring: '',
      target: '',
      readBody: async () => noBytes,
      now: core.clock.now(),
      answerHeaders: {},
      key: null,
      bytes: null,
    };
  }

  /**
   * Admits the key of a console.
   * @param limit - `null` if the request is not counted
   * @throws PartnerError
   */
  async function admit(
    request: ConsoleRequest,
    credential: Credential,
    limit: LimitGroup | null,
  ): Promise<ApiKeyState> {
    const call = { ...callOf(request, opening, credential), limit };
    await pipeline.answer(call);
    if (call.key === null || call.key.requireSignature) throw new PartnerError('invalid_signature');
    if (limit === null) pipeline.limiter.refuseFull(call.key, 'console', call.now);
    return call.key;
  }

  function visitOf(request: ConsoleRequest, { id, partner }: ApiKeyState): ConsoleVisit {
    return {
      partner,
      async call(name, { path = {}, query = {}, body = '', idempotencyKey } = {}) {
        const operation = byName.get(name);
        if (operation === undefined) throw new TypeError(`console: there is no operation ${name}`);
        const answer = await pipeline.answer({
          // The visit was counted, with all of its calls.
          ...callOf(request, operation, { id }),
          idempotencyKeys: idempotencyKey === undefined ? [] : [idempotencyKey],
          path,
          querystring: new URLSearchParams(query).toString(),
          target: `console ${name} ${JSON.stringify(path)}`,
          readBody: async () => Buffer.from(body),
        });
        if ('stream' in answer) throw new TypeError(`console: ${name} answers with a stream`);
        return typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
      },
    };
  }

  return { admit, visitOf };
}

/** The partner API for a console of this process: its calls go through the same steps as those of the routes. */
export function createDesk(
  core: Core,
  partnerConsole: PartnerConsole,
  { pipeline, operations, table, forms, counts }: DeskParts,
): ConsoleDesk {
  const { options, clock, random } = core;
  const { sandbox } = core.storage;
  const { admit, visitOf } = consoleCalls(core, partnerConsole, { pipeline, operations });
  const signIns = addressLimit(fixedWindows(), { name: 'console sign-in', limit: maxSignIns });

  /** Opens a session. @param limit - `null` if the request is not counted */
  async function open(session: string, request: ConsoleRequest, limit: LimitGroup | null) {
    const stored = await sandbox.find(recordOf(session), clock.now());
    if (stored === null) return null;
    try {
      return visitOf(request, await admit(request, { id: String(stored.keyId) }, limit));
    } catch (error) {
      // Any other refusal is one of the key; what goes wrong otherwise is no PartnerError.
      if (error instanceof PartnerError && error.code !== 'rate_limit_exceeded') return null;
      throw error;
    }
  }

  return {
    theme: options.theme,
    prefix: options.prefix,
    events: options.events,
    logsRequests: options.requestLog !== 'off',
    keyHeader: apiKeyHeader,
    routes: table.map(({ operation, method, path, sdk = null, bodyIsOptional = false }) => ({
      ...{ operation, method, path, sdk, bodyIsOptional },
    })),
    maxAttempts: options.webhooks.retryDelaysSeconds.length + 1,
    now: () => clock.now(),
    newWebhookSecret: () => `whsec_${random.bytes(32).toString('hex')}`,
    url: (path) => urlBelow(options.authUrl, path),
    apiUrl: (path) => urlBelow(options.baseUrl, path),

    async signIn(text, request) {
      const now = clock.now();
      requireAllowed(await signIns.consume(core.clientAddress(request.raw), now), now);
      const key = await admit(request, { text }, 'console');
      const bucket = `console sessions:${key.partner}`;
      requireAllowed(await counts.consume({ bucket, limit: maxOpened, windowMs: 3600_000, now }), now);
      const session = randomSecret(random);
      await sandbox.save(recordOf(session), { keyId: key.id }, now + sessionLifetimeMs);
      options.logger.info({ key: key.id, partner: key.partner }, 'signed in to the console');
      return { session, seconds: sessionLifetimeMs / 1000 };
    },

    visit: (session, request) => open(session, request, 'console'),

    revisit: (session, request) => open(session, request, null),

    async signOut(session) {
      const record = recordOf(session);
      // Strangers send what they like as sessions, and pay for none: what is not there is worth no write.
      if ((await sandbox.find(record, clock.now())) !== null) await sandbox.remove(record);
    },

    proof: (visitor) => forms.issue(purposeOf(visitor)),

    async form({ raw }, visitor) {
      const purpose = purposeOf(visitor);
      forms.requireOwnOrigin(raw, purpose[0]);
      const fields = await readParameters(raw);
      forms.check(fields.get('csrf'), purpose);
      return fields;
    },
  };
}
