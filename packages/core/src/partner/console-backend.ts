import { PartnerError } from '../errors.ts';
import { addressLimit } from '../http/address-limit.ts';
import type { LimitGroup } from '../limits/request-limits.ts';
import type { Core } from '../options/context.ts';
import type { ConsoleBackend, ConsoleRequest, PartnerConsole } from '../ports/partner-console.ts';
import { digest, randomSecret } from '../secrets/tokens.ts';
import { consoleCalls } from './console-calls.ts';
import { type ConsoleBackendParts, consoleSettings, sessionLifetimeMs } from './console-settings.ts';
import { requireAllowed } from './refused-count.ts';

/**
 * Maximum number of attempts to sign in to the console per client address and minute; further attempts get a
 * 429. Each successful sign-in is stored.
 */
const maxSignIns = 60;

/**
 * Maximum number of console sessions per partner and hour, so that a key used from many addresses cannot fill
 * the storage. Further sign-ins get a 429.
 */
const maxOpened = 120;

/**
 * Returns the digest under which a console session is stored. The fixed text in it keeps sessions apart from
 * other sandbox records.
 */
const recordOf = (session: string): Buffer => digest(`console session ${session}`);

/**
 * Creates the backend of a console, whose calls run through the same pipeline steps as requests over HTTP.
 */
export function createConsoleBackend(
  core: Core,
  { opensWith }: PartnerConsole,
  parts: ConsoleBackendParts,
): ConsoleBackend {
  const { options, clock, random } = core;
  const { sandbox } = core.storage;
  const { admit, visitOf } = consoleCalls(core, opensWith, parts);
  const signIns = addressLimit(parts.counts, { name: 'console sign-in', limit: maxSignIns });

  /**
   * Checks a request of a console session and returns the visit; `null` if the session has ended or its key
   * is refused. @param limit - limit group that counts the request; `null` if it is not counted
   */
  async function open(session: string, request: ConsoleRequest, limit: LimitGroup | null) {
    const stored = await sandbox.find(recordOf(session), clock.now());
    if (stored === null) return null;
    const credential = { id: String(stored.keyId) };
    try {
      return visitOf(request, credential, await admit(request, credential, limit));
    } catch (error) {
      // Any other PartnerError means that the key is refused. Failures that are no refusal throw other
      // errors.
      if (error instanceof PartnerError && error.code !== 'rate_limit_exceeded') return null;
      throw error;
    }
  }

  return {
    ...consoleSettings(core, parts, 'console'),
    logsRequests: options.requestLog !== 'off',

    async signIn(text, request) {
      const now = clock.now();
      requireAllowed(await signIns.consume(core.clientAddress(request.raw), now), now);
      const key = await admit(request, { text }, 'console');
      const bucket = `console sessions:${key.partner}`;
      requireAllowed(await parts.counts.consume({ bucket, limit: maxOpened, windowMs: 3600_000, now }), now);
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
  };
}
