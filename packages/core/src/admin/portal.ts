import { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { PortalRights, PortalSessionRecord } from '../ports/portal.ts';
import { linkDigest } from '../secrets/portal-secrets.ts';
import { randomSecret } from '../secrets/tokens.ts';
import { urlBelow } from '../text/urls.ts';
import { iso } from '../time/clock.ts';
import { checked, type Shown, shown } from './checked.ts';
import { PartnerNameError } from './partners.ts';

/**
 * A link to the live portal that was not used yet, or a session that a link opened. Times are in ISO 8601.
 */
export type PortalSession = Shown<PortalSessionRecord>;

/** A new link to the live portal of a partner. */
export interface PortalLink {
  /** Id of the link, and of the session that the link opens: `ps_…`. */
  readonly id: string;
  /** Full URL of the link, which opens the live portal once. No other call returns this URL. */
  readonly url: string;
  readonly rights: PortalRights;
  /** Time at which the link expires, in ISO 8601: ten minutes after it was made. */
  readonly expiresAt: string;
}

/**
 * Thrown when an administrator makes a link for a disabled partner, or names a session that does not exist.
 */
export class PortalError extends Error {
  override readonly name = 'PortalError';
  readonly code: 'partner_disabled' | 'portal_session_not_found';

  constructor(code: PortalError['code'], name: string) {
    super(
      code === 'partner_disabled'
        ? `the partner ${name} is disabled`
        : `there is no portal session ${name}, or it has ended`,
    );
    this.code = code;
  }
}

/** Makes links to the live portal of partners, and lists and ends the sessions that links opened. */
export interface PortalAdministration {
  /**
   * Makes a link for a person of a partner. The link works once, within ten minutes, and opens the partner's
   * live portal for eight hours. With the rights `manage` the person may also register, change and remove
   * endpoints, replace their secrets, and deliver again. For every change in the portal, the audit log names
   * who made the link.
   * @throws TypeError if an argument is invalid, or the option `console` has no portal
   * @throws PartnerNameError `partner_not_found`
   * @throws PortalError `partner_disabled`
   * @example
   * ```ts
   * const { url } = await ostiary.admin.as('ana@example.com').portal.link({ partner: 'kafe', rights: 'view' });
   * ```
   */
  link(request: { readonly partner: string; readonly rights: PortalRights }): Promise<PortalLink>;
  /**
   * Lists the unused links and the open sessions of a partner, newest first. Needs no right, because no link can be
   * opened with what the list contains.
   */
  list(partner: string): Promise<readonly PortalSession[]>;
  /**
   * Ends a link or session of a partner: every process refuses it from the next request on.
   * @throws PortalError `portal_session_not_found`
   */
  end(partner: string, id: string): Promise<void>;
}

/** Lifetime of an unused link to the live portal, in milliseconds. */
const linkLifetimeMs = 10 * 60_000;

const newLink = z.strictObject({ partner: z.string(), rights: z.enum(['view', 'manage']) });

export function portalAdministration(core: Core, act: Act): PortalAdministration {
  const { clock, options, random } = core;
  const { partners, portal } = core.storage;

  return {
    async link(request) {
      const { partner, rights } = checked(newLink, request);
      const linkPath = options.console?.portal?.linkPath;
      if (linkPath === undefined)
        throw new TypeError('admin.portal: needs the option console with a portal, such as sandboxConsole()');
      const record = await partners.find(partner);
      if (record === null) throw new PartnerNameError('partner_not_found', partner);
      const [id, secret] = [`ps_${random.bytes(12).toString('hex')}`, randomSecret(random)];
      const audit = act('portal.link', `partner:${partner}`, { session: id, rights });
      const createdAt = clock.now();
      const expiresAt = createdAt + linkLifetimeMs;
      const link = { id, partner, rights, madeBy: audit.actor, createdAt, openedAt: null, expiresAt };
      if (!(await portal.insert({ ...link, digest: linkDigest(secret) }, audit)))
        throw new PortalError('partner_disabled', partner);
      const url = urlBelow(options.authUrl, linkPath.replace(':link', secret));
      return { id, url, rights, expiresAt: iso(expiresAt) };
    },

    list: async (partner) => (await portal.list(partner, clock.now())).map(shown),

    async end(partner, id) {
      const audit = act('portal.end', `partner:${partner}`, { session: id });
      if (!(await portal.remove(partner, id, audit))) throw new PortalError('portal_session_not_found', id);
    },
  };
}
