import { createHmac } from 'node:crypto';
import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { digest, equalDigests, randomSecret } from '../tokens.ts';
import { consoleUrl } from './paths.ts';

/** A session ends this long after the sign-in, whatever happens in between. */
const sessionLifetimeMs = 8 * 3600_000;

/** A sign-in to the console. It names a key and opens nothing by itself: the key is looked up each time. */
export interface Session {
  readonly keyId: string;
  /** Tells sessions apart: forms of one are no good in another. */
  readonly nonce: string;
}

/** Sessions are kept by the browser, in a cookie that only this service can have written. */
export interface Sessions {
  start(ctx: Context, keyId: string): void;
  /** `null` without a cookie, and with one that is forged or too old. */
  read(ctx: Context): Session | null;
  /** Whether the browser sent a cookie of this name at all. */
  isClaimed(ctx: Context): boolean;
  end(ctx: Context): void;
}

/** Every value that a browser sent under a name: a cookie of another path may stand beside ours. */
function cookieValues({ req }: Context, name: string): string[] {
  return (req.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/** See {@link Sessions}. The key itself never gets into a cookie. */
export function createSessions(core: Core): Sessions {
  const { clock, random, options, sealer } = core;
  const keys = sealer.derive('sandbox console sessions');
  const { protocol, pathname } = new URL(consoleUrl(core, 'home'));
  const isSecure = protocol === 'https:';
  const name = `${isSecure ? '__Secure-' : ''}${options.prefix}_sandbox`;
  const attributes = `Path=${pathname}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

  const mac = (key: Buffer, keyId: string, nonce: string, end: string): string =>
    createHmac('sha256', key)
      .update(JSON.stringify([keyId, nonce, end]))
      .digest('base64url');

  function parse(value: string): Session | null {
    const [keyId = '', nonce = '', end = '', proof = '', ...more] = value.split('.');
    const presented = digest(proof);
    const genuine = keys.some((key) => equalDigests(digest(mac(key, keyId, nonce, end)), presented));
    if (!genuine || more.length > 0) return null;
    return Number.parseInt(end, 36) > clock.now() ? { keyId, nonce } : null;
  }

  return {
    start(ctx, keyId) {
      const nonce = randomSecret(random);
      const end = (clock.now() + sessionLifetimeMs).toString(36);
      const value = [keyId, nonce, end, mac(keys[0], keyId, nonce, end)].join('.');
      ctx.append('Set-Cookie', `${name}=${value}; Max-Age=${sessionLifetimeMs / 1000}; ${attributes}`);
    },
    read(ctx) {
      for (const value of cookieValues(ctx, name)) {
        const session = parse(value);
        if (session !== null) return session;
      }
      return null;
    },
    isClaimed: (ctx) => cookieValues(ctx, name).length > 0,
    end(ctx) {
      ctx.append('Set-Cookie', `${name}=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; ${attributes}`);
    },
  };
}
