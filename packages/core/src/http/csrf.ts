import { createHmac, hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import { equalDigests } from '../secrets/tokens.ts';
import { printable } from '../text/printable.ts';

const formLifetimeMs = 24 * 3600_000;

/** Longest time by which the clock of the process that issued a form token may be ahead, in milliseconds. */
const clockSkewMs = 60_000;

/**
 * Purpose to which a form token (CSRF token) is bound: the name of the form, and the records that the form
 * changes.
 */
export type FormPurpose = readonly [form: string, ...about: string[]];

/**
 * Returns the reason to refuse a form because of the browser's `Origin` and Fetch Metadata headers; `null` if
 * they name this site or no site (`Sec-Fetch-Site: none`), or are missing.
 */
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

/** Returns a hash that stands for a user in a form token, so that the token does not show the user's id. */
const userMark = (sub: string): string => hash('sha256', sub, 'base64url');

/**
 * Creates the functions that issue and check form tokens (CSRF tokens), which prove that a form came from one
 * of this service's pages. A token is an HMAC over its purpose, so the server stores nothing. Every refusal
 * is logged with its reason.
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
    /** Issues a form token (CSRF token) for a purpose. */
    issue,

    /**
     * Checks a form token that {@link issue} made for the same purpose. @throws OAuthError, shown as an error
     * page, if the token is not valid
     */
    check,

    /**
     * Checks whether {@link issueTo} made a form token for this user and purpose, at any time. Only returns the
     * result: does not throw and logs nothing.
     */
    proves(sub: string, token: string, purpose: FormPurpose): boolean {
      const [time = '', proof = '', mark = ''] = token.split('.');
      const presented = Buffer.from(proof, 'base64url');
      const bound: FormPurpose = [...purpose, mark];
      return mark === userMark(sub) && keys.some((key) => equalDigests(proofOf(key, time, bound), presented));
    },

    /** Issues a form token (CSRF token) for a page that is shown to one user of the host application. */
    issueTo(sub: string, purpose: FormPurpose): string {
      const mark = userMark(sub);
      return `${issue([...purpose, mark])}.${mark}`;
    },

    /**
     * Checks a form token of {@link issueTo}. Returns whether the page was shown to this user. `false` means
     * that another user has signed in since then: the caller must change nothing, and show the page again.
     * @throws OAuthError, shown as a page, if the token was not issued for this purpose
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
     * Refuses a form that a page of another site posted, as shown by the browser's origin headers (Fetch
     * Metadata, RFC 6454). A host application's `Referrer-Policy: no-referrer` makes browsers send `Origin:
     * null` with forms of this site too. `Sec-Fetch-Site: same-origin` is still reliable then: no other
     * site's page and no sandboxed frame can cause it.
     *
     * @param form - name of the form, for the log
     * @throws OAuthError, shown as a page, if another site posted the form
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
