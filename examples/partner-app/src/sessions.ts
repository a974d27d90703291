import { randomBytes } from 'node:crypto';
import type { Userinfo } from '@ostiary/client-sdk/oauth';
import { cookie } from '@ostiary/web-kit';
import type { Context } from 'koa';

/**
 * A sign-in that a browser has started. The sign-in is stored in the session on the server until the
 * callback.
 */
interface PendingSignIn {
  readonly client: 'confidential' | 'public';
  /**
   * Value of `state`, returned unchanged in the callback. The value proves that this browser started the
   * sign-in.
   */
  readonly state: string;
  /**
   * PKCE code verifier. The server keeps it until the code is exchanged, where it proves that this shop
   * started the sign-in.
   */
  readonly codeVerifier: string;
}

/** The signed-in customer, with the access token for later requests. */
export interface SignedIn {
  readonly client: PendingSignIn['client'];
  readonly accessToken: string;
  readonly scope: readonly string[];
  readonly expiresAt: Date;
  /** Fields of the user from userinfo; they depend on the approved scopes. */
  readonly identity: Userinfo;
  readonly readAt: Date;
}

/** Data of a browser's session. Tokens never leave the server. */
export interface Session {
  /** Last five sign-ins that the browser has started, latest last: each tab may start one. */
  pending: PendingSignIn[];
  signedIn: SignedIn | null;
  /** Ids of the shop's payments to this customer, latest first. */
  transfers: string[];
  /** Message that the next page shows once. */
  notice: Notice | null;
}

/** A message to show on the next page. */
export interface Notice {
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

const lifetimeMs = 60 * 60_000;
const maximum = 10_000;

/**
 * Sessions in memory, found by a cookie. This shop is a demonstration, so its sessions are lost when the shop
 * stops.
 */
export type Sessions = ReturnType<typeof createSessions>;

/**
 * Makes the sessions of the shop. @param url - URL of the shop; with https, cookies are sent over https only
 */
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
     * Starts a session with a new id, because somebody else may have planted the id from before the sign-in.
     */
    start(ctx: Context, session: Partial<Session>): void {
      end(ctx);
      // A Map keeps the order of insertion, so the first session is the oldest.
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
