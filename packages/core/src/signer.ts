import { createHmac } from 'node:crypto';
import { digest, equalDigests } from './tokens.ts';

/** Signs what this service gives away and takes back later, such as the place in a list or the token of a form. */
export interface Signer {
  sign(...parts: readonly string[]): string;
  /** Whether these parts, in this order, were signed under one of the sealing keys. */
  isGenuine(signature: string, ...parts: readonly string[]): boolean;
}

/** @param keys - the first one signs, all of them are believed */
export function createSigner(keys: readonly [Buffer, ...Buffer[]]): Signer {
  const mac = (key: Buffer, parts: readonly string[]): string =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
  return {
    sign: (...parts) => mac(keys[0], parts),
    isGenuine(signature, ...parts) {
      const presented = digest(signature);
      return keys.some((key) => equalDigests(digest(mac(key, parts)), presented));
    },
  };
}
