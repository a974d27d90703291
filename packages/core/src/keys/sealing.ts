import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto';
import type { Random } from '../secrets/random.ts';

const version = 'v1';

function keyId(key: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from('ostiary sealing key id'), key]), 'hex').slice(0, 12);
}

/** Thrown if an encrypted value was sealed with an unknown key, was altered, or belongs to another row. */
export class UnsealError extends Error {
  override readonly name = 'UnsealError';
}

export type Sealer = ReturnType<typeof createSealer>;

/**
 * Creates a sealer, which encrypts secrets that must be read back, with AES-256-GCM under the host
 * application's sealing keys. The `context` of a value is the row and column that it belongs to; decrypting
 * it with another context fails.
 * @param keys - keys of 32 bytes: the current key, then previous ones
 */
export function createSealer(keys: readonly Uint8Array[], random: Random) {
  const [first, ...previous] = keys;
  if (first === undefined) throw new TypeError('sealingKeys: needs at least one key');
  const current: Uint8Array = first;
  const currentKeyId = keyId(current);
  /** Beginning of all values that are sealed with the current key. */
  const currentPrefix = `${version}.${currentKeyId}.`;
  const byId = new Map(keys.map((key) => [keyId(key), key]));

  const additionalData = (id: string, context: string): Buffer => Buffer.from(`${version}.${id}.${context}`);

  function seal(plaintext: string, context: string): string {
    const iv = random.bytes(12);
    const cipher = createCipheriv('aes-256-gcm', current, iv).setAAD(additionalData(currentKeyId, context));
    const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return [version, currentKeyId, iv.toString('base64url'), body.toString('base64url')].join('.');
  }

  /**
   * Decrypts a sealed value. @throws UnsealError if its sealing key is unknown, it was altered, or the
   * context differs
   */
  function open(sealed: string, context: string): string {
    const [format, id = '', iv = '', body = ''] = sealed.split('.');
    const key = byId.get(id);
    if (format !== version || key === undefined) {
      throw new UnsealError(`${context} is sealed with the key ${id}, which is not among sealingKeys`);
    }
    const bytes = Buffer.from(body, 'base64url');
    try {
      const nonce = Buffer.from(iv, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
        .setAAD(additionalData(id, context))
        .setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new UnsealError(`${context} was altered, or moved from another row`, { cause });
    }
  }

  /**
   * Checks whether a value is sealed with the current key, and so stays readable when previous keys are
   * removed.
   */
  const isCurrent = (sealed: string): boolean => sealed.startsWith(currentPrefix);

  /** Derives keys for another purpose from all sealing keys, from the current sealing key first. */
  function derive(purpose: string): readonly [Buffer, ...Buffer[]] {
    const derived = (key: Uint8Array) => Buffer.from(hkdfSync('sha256', key, '', `ostiary ${purpose}`, 32));
    return [derived(current), ...previous.map(derived)];
  }

  return {
    /** Id of the current sealing key, which is part of sealed values. It reveals nothing about the key. */
    currentKeyId,
    currentPrefix,
    /** True if there are previous sealing keys, with which nothing is encrypted any more. */
    hasPrevious: byId.size > 1,
    seal,
    open,
    isCurrent,
    /**
     * Encrypts a sealed secret again with the current sealing key; returns it unchanged if that key was used
     * already. @throws UnsealError if no key can decrypt the value
     */
    renew: (sealed: string, context: string): string =>
      isCurrent(sealed) ? sealed : seal(open(sealed, context), context),
    derive,
  };
}
