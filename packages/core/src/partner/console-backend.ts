import { PartnerError } from '../errors.ts';
import { addressLimit } from '../http/address-limit.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import { readParameters } from '../http/parameters.ts';
import { secretsOnce } from '../http/secrets-once.ts';
import { fixedWindows, secondsUntil } from '../limits/fixed-windows.ts';
import type { LimitGroup } from '../limits/request-limits.ts';
import type { Core } from '../options/context.ts';
import type { ApiKeyState } from '../ports/api-keys.ts';
import type {
  ConsoleBackend,
  ConsoleRequest,
  ConsoleVisit,
  PartnerConsole,
} from '../ports/partner-console.ts';
import type { RateLimitState, RateLimitStore } from '../ports/rate-limits.ts';
import { apiKeyHeader } from '../secrets/api-key-format.ts';
import { digest, randomSecret } from '../secrets/tokens.ts';
import { urlBelow } from '../text/urls.ts';
import type { Credential } from './pipeline/key.ts';
import type { PartnerCall, Pipeline } from './pipeline/pipeline.ts';
import type { PartnerOperation, PartnerRoute } from './request.ts';

/** Lifetime of a console session from its sign-in, in milliseconds. */
const sessionLifetimeMs = 8 * 3600_000;

/**
 * Maximum number of console sign-ins per client address and minute. Each successful sign-in is stored.
 */
const maxSignIns = 60;

/**
 * Maximum number of console sessions per partner and hour, so that a key used from many addresses cannot fill
 * the storage.
 */
const maxOpened = 120;

/**
 * Returns the digest under which a console session is stored. The fixed text in it keeps sessions apart from
 * other sandbox records.
 */
const recordOf = (session: string): Buffer => digest(`console session ${session}`);

/**
 * Refuses a console request whose rate limit is reached. @throws PartnerError `rate_limit_exceeded` with
 * `Retry-After`
 */
function requireAllowed({ allowed, endsAt }: RateLimitState, now: number): void {
  if (allowed) return;
  throw new PartnerError('rate_limit_exceeded', { headers: { 'Retry-After': secondsUntil(endsAt, now) } });
}

const purposeOf = (visitor: string): FormPurpose => ['console', visitor];

/** Parts of the partner API that the backend of a console uses. */
export interface ConsoleBackendParts {
  readonly pipeline: Pipeline;
  readonly operations: readonly PartnerOperation[];
  /** All routes of the partner API. */
  readonly table: readonly PartnerRoute[];
  readonly forms: Forms;
  /** Store for rate limit counts, shared by all processes if the storage supports that. */
  readonly counts: RateLimitStore;
}

const noBytes = Buffer.alloc(0);

/** Headers of the partner API requests that a console makes. */
const json = { 'content-type': 'application/json' };

/**
 * Returns functions that run a console's requests through the partner API's pipeline: the checks of a
 * session, and the operations that its pages call.
 */
function consoleCalls(
  core: Core,
  { opensWith }: PartnerConsole,
  { pipeline, operations }: Pick<ConsoleBackendParts, 'pipeline' | 'operations'>,
) {
  const byName = new Map(operations.map((operation) => [operation.operation, operation]));

  /** Partner API operation that only checks whether a key may use the console. */
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
      isOver: () => false,
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
   * Checks, with the steps of the partner API's pipeline, that a key may use the console.
   * @param limit - limit group that counts the request; `null` if it is not counted
   * @throws PartnerError if the key is refused or its limit is reached
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
          // Not counted again: the visit was counted, including all of its calls.
          ...callOf(request, operation, { id }),
          idempotencyKeys: idempotencyKey === undefined ? [] : [idempotencyKey],
          path,
          querystring: new URLSearchParams(query).toString(),
          target: `console ${name} ${JSON.stringify(path)}`,
          readBody: async () => Buffer.from(body),
        });
        if ('stream' in answer) throw new TypeError(`console: ${name} responds with a stream`);
        return typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
      },
    };
  }

  return { admit, visitOf };
}

/**
 * Creates the backend of a console, whose calls run through the same pipeline steps as requests over HTTP.
 */
export function createConsoleBackend(
  core: Core,
  partnerConsole: PartnerConsole,
  { pipeline, operations, table, forms, counts }: ConsoleBackendParts,
): ConsoleBackend {
  const { options, clock, random } = core;
  const { sandbox } = core.storage;
  const { admit, visitOf } = consoleCalls(core, partnerConsole, { pipeline, operations });
  const once = secretsOnce(core);
  const signIns = addressLimit(fixedWindows(), { name: 'console sign-in', limit: maxSignIns });

  /**
   * Checks a request of a console session and returns the visit; `null` if the session has ended or its key
   * is refused. @param limit - limit group that counts the request; `null` if it is not counted
   */
  async function open(session: string, request: ConsoleRequest, limit: LimitGroup | null) {
    const stored = await sandbox.find(recordOf(session), clock.now());
    if (stored === null) return null;
    try {
      return visitOf(request, await admit(request, { id: String(stored.keyId) }, limit));
    } catch (error) {
      // Any other PartnerError means that the key is refused. Failures that are no refusal throw other
      // errors.
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
    allowsPrivateTargets: options.webhooks.allowPrivateTargets,
    maxAttempts: options.webhooks.retryDelaysSeconds.length + 1,
    now: () => clock.now(),
    newWebhookSecret: () =>
      `whsec_${random.bytes(32).toString(options.webhooks.standardHeaders ? 'base64' : 'hex')}`,
    keepOnce: (session, text) => once.keep(`console ${session}`, text),
    takeOnce: (session, ticket) => once.take(`console ${session}`, ticket),
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
      // Read before removing: anyone can send made-up sessions, which should not cause writes.
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
