import { hex, webCrypto } from './platform.ts';

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/**
 * Makes a function that signs a body: it returns headers with the HMAC-SHA-256 of its bytes and the current
 * time, anew for every attempt.
 */
export function signer(
  secret: string,
  prefix: string,
  now: () => number,
): (body: string) => Promise<Record<string, string>> {
  const name = `X-${prefix.toUpperCase()}-`;
  let key: Promise<CryptoKey> | undefined;
  return async (body) => {
    const { subtle } = webCrypto();
    key ??= subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const signature = await subtle.sign('HMAC', await key, bytesOf(body));
    return { [`${name}Signature`]: hex(new Uint8Array(signature)), [`${name}Timestamp`]: String(now()) };
  };
}
