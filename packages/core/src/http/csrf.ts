import { createHmac, hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import { equalDigests } from '../secrets/tokens.ts';
import { printable } from '../text/printable.ts';

const formLifetimeMs = 24 * 3600_000;

/** The clock of the process that made the form may be ahead of this one's by so much. */
const clockSkewMs = 60_000;

/** Purpose that a form token is bound to: the name of the form, and what it acts on. */
export type FormPurpose = readonly [form: string, ...about: string[]];

/** Reason to refuse a form, by what the browser says of its origin; `null` for a form of this site. */
function originProblem({ headers }: IncomingMessage, own: string): string | null {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (origin === 'null' && site !== 'same-origin')
    return 'its Origin is null, and Sec-Fetch-Site does not say same-origin';
  if (origin !== undefined && origin !== 'null' && origin !== own) return 'its Origin is not that of authUrl';
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return 'Sec-Fetch-Site names another site';
  return null;
}

export type Forms = ReturnType<typeof createForms>;

/** Names a user in a form token without showing the user's id. */
const userMark = (sub: string): string => hash('sha256', sub, 'base64url');

/**
 * Issues and checks form tokens, which prove that a form came from one of our pages. A token is an HMAC over
 * its purpose, so that the server stores nothing. Every refusal is logged with its reason.
 */
export function createForms({ sealer, clock, options: { logger, authUrl } }: Core) {
  const keys = sealer.derive('form tokens');
  const proofOf = (key: Buffer, time: string, purpose: FormPurpose): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([time, ...purpose]))
      .digest();

  function refused(form: string, reason: string, details: object = {}): OAuthError {
    logger.warn({ form, reason, ...details }, 'a form was refused');
    return new OAuthError('invalid_request', 'The form did not come from this site, or is too old.', {
      status: 403,
      page: 'csrf',
    });
  }

  function issue(purpose: FormPurpose): string {
    const time = clock.now().toString(36);
    return `${time}.${proofOf(keys[0], time, purpose).toString('base64url')}`;
  }

  function check(token: string | undefined, purpose: FormPurpose): void {
    const [form] = purpose;
    if (!token) throw refused(form, 'its token is missing');
    const [time = '', proof = ''] = token.split('.');
    const presented = Buffer.from(proof, 'base64url');
    if (!keys.some((key) => equalDigests(proofOf(key, time, purpose), presented)))
      throw refused(form, 'its token was not made for this user and purpose, or with another sealing key');
    const age = clock.now() - Number.parseInt(time, 36);
    if (age > formLifetimeMs) throw refused(form, 'its page is older than a day');
    if (!(age >= -clockSkewMs)) throw refused(form, 'its page is from a process whose clock is ahead');
  }

  return {
    /** Issues a token for this purpose. */
    issue,

    /** Checks a token of {@link issue}. @throws OAuthError that is shown as a page */
    check,

    /** Issues a token for a page that is shown to one user of the host. */
    issueTo(sub: string, purpose: FormPurpose): string {
      const mark = userMark(sub);
      return `${issue([...purpose, mark])}.${mark}`;
    },

    /**
     * Checks a token of {@link issueTo}. Returns whether the page was shown to this user. If not, another user has signed in since
     * then: change nothing, and show the page again.
     * @throws OAuthError that is shown as a page, for a token that no page of this purpose had
     */
    isShownTo(sub: string, token: string | undefined, purpose: FormPurpose): boolean {
      const [, , mark = ''] = (token ?? '').split('.');
      check(token, [...purpose, mark]);
      if (mark === userMark(sub)) return true;
      logger.info(
        { form: purpose[0] },
        'a form was not taken: another user has signed in since its page was shown',
      );
      return false;
    },

    /**
     * Refuses a form that another site's page posted, by what browsers say of its origin (Fetch Metadata, RFC 6454).
     * A host's `Referrer-Policy: no-referrer` makes browsers send `Origin: null` with forms of this site too; they still
     * say that it is the same one, which no page of another site and no sandboxed frame can make them say.
     *
     * @param form - its name, for the log
     * @throws OAuthError that is shown as a page
     */
    requireOwnOrigin(request: IncomingMessage, form: string): void {
      const problem = originProblem(request, authUrl.origin);
      if (problem === null) return;
      const { origin, 'sec-fetch-site': site } = request.headers;
      throw refused(form, problem, {
        origin: origin === undefined ? null : printable(origin),
        site: site === undefined ? null : printable(String(site)),
        expected: authUrl.origin,
      });
    },
  };
}
