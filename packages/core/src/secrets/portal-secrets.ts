import { digest } from './tokens.ts';

/** Returns the digest under which a link to the live portal is stored. */
export const linkDigest = (link: string): Buffer => digest(`portal link ${link}`);

/**
 * Returns the digest under which a session of the live portal is stored, which is never the digest of a link.
 */
export const sessionDigest = (session: string): Buffer => digest(`portal session ${session}`);
