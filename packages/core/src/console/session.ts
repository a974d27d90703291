import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { digest, randomSecret } from '../tokens.ts';
import { consoleUrl } from './paths.ts';

/** A session ends this long after the sign-in, whatever happens in between. */
const sessionLifetimeMs = 8 * 3600_000;

/** Cookies of our name that are looked up at most: somebody may have planted some beside ours. */
const mostCookies = 8;

/** A sign-in to the console. It names a key and opens nothing by itself: the key is looked up each time. */
export interface Session {
  /** Known to the browser alone; forms of one session are no good in another. */
  readonly id: string;
  readonly keyId: string;
}

/** Sessions are kept in the storage, under the digest of what the browser has in its cookie. */
export interface Sessions {
  start(ctx: Context, keyId: string): Promise<void>;
  /** `null` without a cookie, and where its session is unknown, too old or signed out. */
  read(ctx: Context): Promise<Session | null>;
  /** Whether the browser sent a cookie of this name at all. */
  isClaimed(ctx: Context): boolean;
  /** Ends it here and in the browser: a copy of the cookie opens nothing any more, in no process. */
  end(ctx: Context): Promise<void>;
}

/** Every value that a browser sent under a name: a cookie of another path may stand beside ours. */
function cookieValues({ req }: Context, name: string): string[] {
  return (req.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/** Where a session is stored: apart from authorization requests, whose ids stand in addresses. */
const recordOf = (id: string): Buffer => digest(`sandbox console session ${id}`);

/** See {@link Sessions}. The key itself never gets into a cookie. */
export function createSessions(core: Core): Sessions {
  const { clock, random, options } = core;
  const { interactions } = core.storage;
  const { protocol, pathname } = new URL(consoleUrl(core, 'home'));
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Secure-' : ''}${options.prefix}_sandbox`;
  const attributes = `Path=${pathname}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

  const idsOf = (ctx: Context): string[] =>
    cookieValues(ctx, name)
      .filter((value) => /^[\w-]{43}$/.test(value))
      .slice(0, mostCookies);

  return {
    async start(ctx, keyId) {
      const id = randomSecret(random);
      await interactions.save(recordOf(id), { keyId }, clock.now() + sessionLifetimeMs);
      ctx.append('Set-Cookie', `${name}=${id}; Max-Age=${sessionLifetimeMs / 1000}; ${attributes}`);
    },

    async read(ctx) {
      for (const id of idsOf(ctx)) {
        const stored = await interactions.find(recordOf(id), clock.now());
        if (stored !== null) return { id, keyId: String(stored.keyId) };
      }
      return null;
    },

    isClaimed: (ctx) => cookieValues(ctx, name).length > 0,

    async end(ctx) {
      for (const id of idsOf(ctx)) await interactions.remove(recordOf(id));
      ctx.append('Set-Cookie', `${name}=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes}`);
    },
  };
}
