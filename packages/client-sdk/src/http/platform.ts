import { builtin } from '../platform/builtin.ts';

/**
 * Returns the platform's WebCrypto object. Node 18 has no global for it, and jsdom and pages without https
 * have a global without `subtle`.
 * @throws TypeError on platforms without WebCrypto
 */
export function webCrypto(): Crypto {
  const { crypto } = globalThis as { readonly crypto?: Crypto };
  const found = crypto?.subtle === undefined ? (builtin('crypto')?.webcrypto as Crypto | undefined) : crypto;
  if (found === undefined) throw new TypeError('this platform has no WebCrypto (crypto.subtle): add it');
  return found;
}

/** Checks whether the code runs on a page in a browser. Workers, servers and React Native are not pages. */
export function isBrowser(): boolean {
  const { window } = globalThis as { readonly window?: { readonly document?: unknown } };
  return window?.document !== undefined;
}

/** Formats bytes as lower-case hexadecimal. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns 32 random bytes. Needs only `getRandomValues`, not all of WebCrypto. */
export function randomBytes(): Uint8Array<ArrayBuffer> {
  const { crypto } = globalThis as { readonly crypto?: Crypto };
  return (crypto ?? webCrypto()).getRandomValues(new Uint8Array(32));
}
