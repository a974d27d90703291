import { randomBytes } from 'node:crypto';
import type { PendingSignIn, TokenSet } from './sign-in.ts';

/** What the shop remembers of a browser. Tokens never leave the server. */
export interface PartnerSession {
  /** Sign-ins under way, one per tab, the latest last. */
  pending: PendingSignIn[];
  signedIn: {
    readonly clientId: string;
    readonly tokens: TokenSet;
    readonly identity: Readonly<Record<string, unknown>>;
    readonly readAt: Date;
  } | null;
  /** Ids of what the shop paid this customer, the latest first. */
  transfers: string[];
  /** Shown once on the next page. */
  notice: Notice | null;
}

/** A session in which nothing has happened yet. */
export function newSession(changes: Partial<PartnerSession> = {}): PartnerSession {
  return { pending: [], signedIn: null, transfers: [], notice: null, ...changes };
}

/** A message for the next page. */
export interface Notice {
  readonly kind: 'good' | 'bad';
  readonly text: string;
}

/** Sessions in memory: this shop is a demonstration, and forgets everything when it stops. */
export interface PartnerSessions {
  get(id: string | undefined): PartnerSession | null;
  start(session: PartnerSession): string;
  end(id: string): void;
}

const lifetimeMs = 60 * 60_000;
const maximum = 10_000;

export function createPartnerSessions(now: () => number = Date.now): PartnerSessions {
  const sessions = new Map<string, { readonly session: PartnerSession; readonly endsAt: number }>();
  return {
    get(id) {
      const entry = id === undefined ? undefined : sessions.get(id);
      return entry !== undefined && entry.endsAt > now() ? entry.session : null;
    },
    start(session) {
      // A Map keeps the order of insertion, so the first one is the oldest.
      const [oldest] = sessions;
      if (oldest !== undefined && (sessions.size >= maximum || oldest[1].endsAt <= now()))
        sessions.delete(oldest[0]);
      const id = randomBytes(32).toString('base64url');
      sessions.set(id, { session, endsAt: now() + lifetimeMs });
      return id;
    },
    end: (id) => void sessions.delete(id),
  };
}
