import { hkdfSync } from 'node:crypto';
import type { ServerConfig } from './config.ts';
import type { SigningKeys } from './sign-in/proofs.ts';

/** Derives a key for one purpose from every sealing key, in the same order. */
export const keysOf =
  ({ sealingKeys }: Pick<ServerConfig, 'sealingKeys'>) =>
  (purpose: string): SigningKeys => {
    const derive = (sealingKey: string): Uint8Array => {
      const key = Buffer.from(sealingKey, 'base64url');
      return new Uint8Array(hkdfSync('sha256', key, '', `reference-server ${purpose}`, 32));
    };
    const [first = '', ...others] = new Set(sealingKeys);
    return [derive(first), ...others.map(derive)];
  };
