import { randomBytes } from 'node:crypto';
import type { Userinfo } from '@ostiary/client-sdk/oauth';
import { cookie } from '@ostiary/web-kit';
import type { Context } from 'koa';

/** A sign-in that was begun in this browser. Kept on the server, in the session, until the user comes back. */
export interface PendingSignIn {
  readonly client: 'confidential' | 'public';
  /** Comes back unchanged: proves that the answer belongs to a sign-in that this browser began. */
  readonly state: string;
  /** Stays here: proves at the exchange that we are the ones who asked (PKCE). */
  readonly codeVerifier: string;
}

/** The signed-in customer, and the tokens for further requests. */
export interface SignedIn {
  readonly client: PendingSignIn['client'];
  readonly accessToken: string;
  readonly scope: readonly string[];
  readonly expiresAt: Date;
  /** The fields depend on the approved scopes. */
  readonly identity: Userinfo;
  readonly readAt: Date;
}

/** Data of a browser's session. Tokens never leave the server. */
export interface Session {
  /** Sign-ins under way, one per tab, the latest last. */
  pending: PendingSignIn[];
  signedIn: SignedIn | null;
  /** Ids of what the shop paid this customer, the latest first. */
  transfers: string[];
  /** Shown once on the next page. */
  notice: Notice | null;
}

/** A message for the next page. */
export interface Notice {
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

const lifetimeMs = 60 * 60_000;
const maximum = 10_000;

/** Sessions in memory, found by a cookie: this shop is a demonstration, and forgets everything when it stops. */
export type Sessions = ReturnType<typeof createSessions>;

/** @param url - the address of the shop: over https cookies are for https only */
export function createSessions(url: string) {
  const known = new Map<string, { readonly session: Session; readonly endsAt: number }>();
  const { read, set, remove } = cookie('kafe_lakay_session', url.startsWith('https:'));

  function end(ctx: Context): void {
    known.delete(read(ctx.req) ?? '');
    ctx.set('Set-Cookie', remove);
  }

  return {
    of(ctx: Context): Session | null {
      const entry = known.get(read(ctx.req) ?? '');
      return entry !== undefined && entry.endsAt > Date.now() ? entry.session : null;
    },
    /**
     * Begins a session. An id that was there before a sign-in may have been planted by somebody else, so the browser gets a new
     * one.
     */
    start(ctx: Context, session: Partial<Session>): void {
      end(ctx);
      // A Map keeps the order of insertion, so the first one is the oldest.
      const [oldest] = known;
      if (oldest !== undefined && (known.size >= maximum || oldest[1].endsAt <= Date.now())) {
        known.delete(oldest[0]);
      }
      const id = randomBytes(32).toString('base64url');
      const empty = { pending: [], signedIn: null, transfers: [], notice: null };
      known.set(id, { session: { ...empty, ...session }, endsAt: Date.now() + lifetimeMs });
      ctx.set('Set-Cookie', set(id));
    },
    end,
  };
}
