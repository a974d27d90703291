import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Core } from '../context.ts';
import { OAuthError } from '../errors.ts';
import { digest, equalDigests } from '../tokens.ts';

/** A form is good for this long. */
const formLifetimeMs = 24 * 3600_000;

/** The clock of the process that made the form may be ahead of this one's by so much. */
const clockSkewMs = 60_000;

/** Tokens that prove that a form came from one of our pages, for this user and purpose. */
export interface FormTokens {
  issue(purpose: readonly string[]): string;
  /** @throws OAuthError that is shown as a page */
  check(token: string | undefined, purpose: readonly string[]): void;
}

/** Forms are protected by an HMAC over what they do and for whom; nothing has to be stored. */
export function createFormTokens(core: Core): FormTokens {
  const keys = core.sealer.derive('form tokens');
  const mac = (key: Buffer, time: string, purpose: readonly string[]): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([time, ...purpose]))
      .digest('base64url');

  return {
    issue(purpose) {
      const time = core.clock.now().toString(36);
      return `${time}.${mac(keys[0], time, purpose)}`;
    },
    check(token, purpose) {
      const [time = '', proof = ''] = (token ?? '').split('.');
      const presented = digest(proof);
      const genuine = keys.some((key) => equalDigests(digest(mac(key, time, purpose)), presented));
      const age = core.clock.now() - Number.parseInt(time, 36);
      if (!genuine || !(age >= -clockSkewMs && age <= formLifetimeMs)) throw forgedForm();
    },
  };
}

function forgedForm(): OAuthError {
  return new OAuthError('invalid_request', 'The form did not come from this site, or is too old.', {
    status: 403,
    page: 'csrf',
  });
}

/**
 * Refuses a form that another site's page posted, by what browsers say of its origin (Fetch Metadata, RFC
 * 6454).
 */
export function requireOwnOrigin(request: IncomingMessage, authUrl: URL): void {
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (origin !== undefined && origin !== authUrl.origin) throw forgedForm();
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw forgedForm();
}
