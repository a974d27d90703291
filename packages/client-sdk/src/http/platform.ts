/** A module of Node, where there is one. Written so that bundlers for other platforms do not look for it. */
export async function builtin(name: string): Promise<unknown> {
  return await import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`);
}

/** WebCrypto: a global everywhere but on Node 18. */
export async function webCrypto(): Promise<Crypto> {
  return globalThis.crypto ?? ((await builtin('crypto')) as { readonly webcrypto: Crypto }).webcrypto;
}

/** Whether this is a page in a browser; workers, servers and React Native are not. */
export function isBrowser(): boolean {
  const { window } = globalThis as { readonly window?: { readonly document?: unknown } };
  return window?.document !== undefined;
}

/** Bytes as lower-case hexadecimal. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** 256 random bits. */
export async function randomBytes(): Promise<Uint8Array<ArrayBuffer>> {
  return (await webCrypto()).getRandomValues(new Uint8Array(32));
}
