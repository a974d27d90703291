import { actsOf } from '../audit/acts.ts';
import { PartnerError } from '../errors.ts';
import { addressLimit } from '../http/address-limit.ts';
import type { LimitGroup } from '../limits/request-limits.ts';
import type { Core } from '../options/context.ts';
import type { ConsoleRequest, PortalBackend } from '../ports/partner-console.ts';
import type { PortalSessionRecord } from '../ports/portal.ts';
import { linkDigest, sessionDigest } from '../secrets/portal-secrets.ts';
import { randomSecret } from '../secrets/tokens.ts';
import { consoleCalls } from './console-calls.ts';
import { type ConsoleBackendParts, consoleSettings, sessionLifetimeMs } from './console-settings.ts';
import { portalActor } from './pipeline/caller.ts';
import { requireAllowed } from './refused-count.ts';

/**
 * Maximum number of attempts to open a link to the portal for live data, per client address and minute. Attempts with unknown,
 * used or expired links count too.
 */
const maxOpenings = 60;

/**
 * Creates the backend of the live portal. Portal sessions come from links and see their partner's live data.
 */
export function createPortalBackend(core: Core, parts: ConsoleBackendParts): PortalBackend {
  const { clock, options, random } = core;
  const { portal } = core.storage;
  const { admit, visitOf } = consoleCalls(core, { scope: null, portal: 'view' }, parts);
  const openings = addressLimit(parts.counts, { name: 'portal link', limit: maxOpenings });

  /** Finds a link to the live portal that can be used now. Returns `null` if there is none. */
  async function unusedLink(link: string): Promise<PortalSessionRecord | null> {
    const found = await portal.find(linkDigest(link), clock.now());
    return found?.openedAt === null ? found : null;
  }

  /** Returns the visit that belongs to a live portal session; `null` if the session has ended. */
  async function visit(session: string, request: ConsoleRequest, limit: LimitGroup | null) {
    const credential = { portal: sessionDigest(session) };
    try {
      return visitOf(request, credential, await admit(request, credential, limit));
    } catch (error) {
      if (error instanceof PartnerError && error.code !== 'rate_limit_exceeded') return null;
      throw error;
    }
  }

  return {
    ...consoleSettings(core, parts, 'portal'),
    logsRequests: options.requestLog === 'all',

    async findLink(link) {
      const found = await unusedLink(link);
      return found && { partner: found.partner, rights: found.rights };
    },

    async open(link, { raw }) {
      const now = clock.now();
      requireAllowed(await openings.consume(core.clientAddress(raw), now), now);
      const found = await unusedLink(link);
      if (found === null) return null;
      const session = randomSecret(random);
      const { id, partner, rights } = found;
      const act = actsOf(core, portalActor(found));
      const used = { digest: linkDigest(link), sessionDigest: sessionDigest(session) };
      const isOpen = await portal.open(
        { ...used, now, expiresAt: now + sessionLifetimeMs },
        act('portal.open', `partner:${partner}`, { session: id, rights }),
      );
      if (!isOpen) return null;
      options.logger.info({ portalSession: id, partner }, 'opened the live portal');
      return { session, seconds: sessionLifetimeMs / 1000 };
    },

    visit: (session, request) => visit(session, request, 'console'),

    revisit: (session, request) => visit(session, request, null),

    async signOut(session) {
      // Read before removing: anyone can send made-up sessions, which should not cause writes.
      const found = await portal.find(sessionDigest(session), clock.now());
      if (found === null) return;
      const { id, partner } = found;
      const act = actsOf(core, portalActor(found));
      await portal.remove(partner, id, act('portal.end', `partner:${partner}`, { session: id }));
    },
  };
}
