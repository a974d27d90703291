import { PartnerError } from '../errors.ts';
import { addressLimit } from '../http/address-limit.ts';
import { readParameters } from '../http/body.ts';
import type { FormPurpose, Forms } from '../http/csrf.ts';
import { fixedWindows, secondsUntil } from '../limits/fixed-windows.ts';
import type { Core } from '../options/context.ts';
import type { ConsoleDesk, ConsoleRequest, ConsoleVisit, PartnerConsole } from '../ports/console.ts';
import type { RateLimitState, RateLimitStore } from '../ports/rate-limits.ts';
import { apiKeyHeader } from '../secrets/api-key-format.ts';
import { digest, randomSecret } from '../secrets/tokens.ts';
import { urlBelow } from '../text/urls.ts';
import { type Admission, checkGrant } from './pipeline/admission.ts';
import { parseBody, parsePath, parseQuery } from './pipeline/body.ts';
import type { Idempotency } from './pipeline/idempotency.ts';
import type { FoundKey, KeyCheck } from './pipeline/key.ts';
import type { PartnerOperation, PartnerRequest, PartnerRoute } from './request.ts';

/** A session ends this long after the sign-in, whatever happens in between. */
const sessionLifetimeMs = 8 * 3600_000;

/** Sign-ins that a client address tries in a minute: each one that goes well is stored. */
const maxSignIns = 60;

/** Sessions that a partner opens in an hour: a key that is used from many addresses must not fill the storage. */
const maxOpened = 120;

/** Digest under which a session is stored: apart from other records of the sandbox. */
const recordOf = (session: string): Buffer => digest(`console session ${session}`);

/** @throws PartnerError `rate_limit_exceeded` */
function requireAllowed({ allowed, endsAt }: RateLimitState, now: number): void {
  if (allowed) return;
  throw new PartnerError('rate_limit_exceeded', { headers: { 'Retry-After': secondsUntil(endsAt, now) } });
}

const purposeOf = (visitor: string): FormPurpose => ['console', visitor];

/** What serves the routes of the partner API, for a console. */
export interface DeskParts {
  readonly keys: KeyCheck;
  readonly admission: Admission;
  readonly idempotency: Idempotency;
  readonly operations: readonly PartnerOperation[];
  /** The routes of the partner API. */
  readonly table: readonly PartnerRoute[];
  readonly forms: Forms;
  /** Counts of all processes, where there are such. */
  readonly counts: RateLimitStore;
}

/** What a console sends. */
const json = { 'content-type': 'application/json' };

/** Calls operations in the name of a key that was admitted: what they take is checked as in a request to the API. */
function visits(
  core: Core,
  { operations, idempotency }: Pick<DeskParts, 'operations' | 'idempotency'>,
): (found: FoundKey, request: ConsoleRequest) => ConsoleVisit {
  const byName = new Map(operations.map((operation) => [operation.operation, operation]));

  return (found, { raw }) => {
    const { key } = found;
    const { partner, mode } = key;
    // The visit was counted, whatever it calls.
    const common = { partner, mode, key, address: () => core.clientAddress(raw), count: async () => ({}) };
    return {
      partner,
      async call(name, { path = {}, query = {}, body = '', idempotencyKey } = {}) {
        const operation = byName.get(name);
        if (operation === undefined) throw new TypeError(`console: there is no operation ${name}`);
        checkGrant(operation, found);
        const bytes = Buffer.from(body);
        const now = core.clock.now();
        const route = `${name} ${JSON.stringify(path)}`;
        const what = { method: 'console', route, body: bytes, now };
        const request: PartnerRequest = {
          ...common,
          path: parsePath(operation, path),
          query: parseQuery(operation, new URLSearchParams(query).toString()),
          body: parseBody(operation, bytes, json),
          idempotency:
            operation.idempotent && idempotencyKey !== undefined
              ? idempotency.repeatable(idempotencyKey, what)
              : null,
          now,
        };
        const answer = await idempotency.answer(operation, request);
        if ('stream' in answer) throw new TypeError(`console: ${name} answers with a stream`);
        return typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
      },
    };
  };
}

/** The partner API for a console of this process: the same keys, admission and handlers as those of the routes. */
export function createDesk(
  core: Core,
  { opensWith }: PartnerConsole,
  { keys, admission, idempotency, operations, table, forms, counts }: DeskParts,
): ConsoleDesk {
  const { options, clock, random } = core;
  const { sandbox } = core.storage;
  const visitOf = visits(core, { operations, idempotency });
  const signIns = addressLimit(fixedWindows(), { name: 'console sign-in', limit: maxSignIns });

  /** @throws PartnerError */
  async function admit(
    found: FoundKey,
    request: ConsoleRequest,
    how: 'admit' | 'check' = 'admit',
  ): Promise<FoundKey> {
    const address = () => core.clientAddress(request.raw);
    const demands = { ...opensWith, limit: 'console' } as const;
    await admission[how](demands, found, { address, now: clock.now() });
    if (found.key.requireSignature) throw new PartnerError('invalid_signature');
    return found;
  }

  /** Opens a session; `check` counts nothing. */
  async function open(session: string, request: ConsoleRequest, how: 'admit' | 'check') {
    const stored = await sandbox.find(recordOf(session), clock.now());
    if (stored === null) return null;
    try {
      return visitOf(await admit(await keys.findById(String(stored.keyId)), request, how), request);
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
    routes: table.map(({ operation, method, path }) => ({ operation, method, path })),
    maxAttempts: options.webhooks.retryDelaysSeconds.length + 1,
    now: () => clock.now(),
    newWebhookSecret: () => `whsec_${random.bytes(32).toString('hex')}`,
    url: (path) => urlBelow(options.authUrl, path),
    apiUrl: (path) => urlBelow(options.baseUrl, path),

    async signIn(text, request) {
      const now = clock.now();
      requireAllowed(await signIns.consume(core.clientAddress(request.raw), now), now);
      const { key } = await admit(await keys.find(text), request);
      const bucket = `console sessions:${key.partner}`;
      requireAllowed(await counts.consume({ bucket, limit: maxOpened, windowMs: 3600_000, now }), now);
      const session = randomSecret(random);
      await sandbox.save(recordOf(session), { keyId: key.id }, now + sessionLifetimeMs);
      options.logger.info({ key: key.id, partner: key.partner }, 'signed in to the console');
      return { session, seconds: sessionLifetimeMs / 1000 };
    },

    visit: (session, request) => open(session, request, 'admit'),

    revisit: (session, request) => open(session, request, 'check'),

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
