import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto';
import type { Random } from '../random.ts';
import { createSigner, type Signer } from '../signer.ts';

const version = 'v1';

function keyId(key: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from('ostiary sealing key id'), key]), 'hex').slice(0, 12);
}

/**
 * Thrown when a sealed value names a key that is not among the host's, or when it does not belong to its row.
 */
export class UnsealError extends Error {
  override readonly name = 'UnsealError';
}

/** Seals secrets that must be read back, with AES-256-GCM under the host's keys. */
export interface Sealer {
  /** @param context - the row and column that the value belongs to; opening it anywhere else fails */
  seal(plaintext: string, context: string): string;
  /** @throws UnsealError */
  open(sealed: string, context: string): string;
  /** Whether the value is sealed with the current key, so that it survives the removal of previous ones. */
  isCurrent(sealed: string): boolean;
  /**
   * The same secret sealed with the current key; a value that is already comes back as it is.
   * @throws UnsealError
   */
  renew(sealed: string, context: string): string;
  /** Names the current key in what it seals, and tells nothing of it. */
  readonly currentKeyId: string;
  /** Whether there are keys that open and do not seal. */
  readonly hasPrevious: boolean;
  /** Keys for another purpose, derived from every sealing key, the current one's first. */
  derive(purpose: string): readonly [Buffer, ...Buffer[]];
  /** A {@link Signer} whose signatures are good for one purpose. */
  signer(purpose: string): Signer;
}

/** @param keys - 32 bytes each: the current key, then previous ones */
export function createSealer(keys: readonly Uint8Array[], random: Random): Sealer {
  const [current, ...previous] = keys;
  if (current === undefined) throw new TypeError('sealingKeys: needs at least one key');
  const currentId = keyId(current);
  const byId = new Map(keys.map((key) => [keyId(key), key]));

  const additionalData = (id: string, context: string): Buffer => Buffer.from(`${version}.${id}.${context}`);

  const isCurrent = (sealed: string): boolean => sealed.startsWith(`${version}.${currentId}.`);

  const sealer: Sealer = {
    currentKeyId: currentId,
    hasPrevious: byId.size > 1,

    seal(plaintext, context) {
      const iv = random.bytes(12);
      const cipher = createCipheriv('aes-256-gcm', current, iv).setAAD(additionalData(currentId, context));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return [version, currentId, iv.toString('base64url'), body.toString('base64url')].join('.');
    },

    open(sealed, context) {
      const [format, id = '', iv = '', body = ''] = sealed.split('.');
      const key = byId.get(id);
      if (format !== version || key === undefined) {
        throw new UnsealError(`${context} is sealed with the key ${id}, which is not among sealingKeys`);
      }
      const bytes = Buffer.from(body, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), {
          authTagLength: 16,
        })
          .setAAD(additionalData(id, context))
          .setAuthTag(bytes.subarray(-16));
        return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new UnsealError(`${context} was altered, or moved from another row`, { cause });
      }
    },

    isCurrent,

    renew: (sealed, context) =>
      isCurrent(sealed) ? sealed : sealer.seal(sealer.open(sealed, context), context),

    derive(purpose) {
      const derived = (key: Uint8Array) => Buffer.from(hkdfSync('sha256', key, '', `ostiary ${purpose}`, 32));
      return [derived(current), ...previous.map(derived)];
    },

    signer: (purpose) => createSigner(sealer.derive(purpose)),
  };
  return sealer;
}
