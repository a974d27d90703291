import type { JWK } from 'jose';
import { exportJWK } from 'jose/key/export';
import { generateKeyPair } from 'jose/key/generate/keypair';
import type { AuditRecord } from '../ports/audit.ts';
import type { SigningAlgorithm } from '../ports/clients.ts';
import type { Clock } from '../ports/clock.ts';
import type { NewJob } from '../ports/queue.ts';
import type { NewSigningKey, SigningKeyRecord, SigningKeyStore } from '../ports/signing-keys.ts';
import type { Random } from '../secrets/random.ts';
import { type Sealer, UnsealError } from './sealing.ts';

/** Algorithms with which ID tokens can be signed. */
export const signingAlgorithms = ['RS256', 'ES256'] as const satisfies readonly SigningAlgorithm[];

/** Longest time for which another process may use or publish an outdated key set, in milliseconds. */
export const keyRefreshMs = 5_000;

/**
 * Time for which a signing key stays published after it was replaced, in milliseconds. Longer than the
 * lifetime of any ID token.
 */
const retiredKeyMs = 24 * 3600_000;

/**
 * Time for which a signing key verifies tokens after it was replaced, in milliseconds; a later rotation deletes
 * it. Clients send old ID tokens as `id_token_hint` to sign a user out.
 */
export const verifiableMs = 365 * 24 * 3600_000;

/** A current, former or future signing key, ready for use. Times are milliseconds since the Unix epoch. */
export interface KnownKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly createdAt: number;
  readonly activeFrom: number;
  readonly publicJwk: JWK;
  /** Private key; `null` if it was deleted because the key no longer signs. */
  readonly privateJwk: JWK | null;
}

/** A key that still has its private part, so it can sign. */
interface SigningKey extends KnownKey {
  readonly privateJwk: JWK;
}

const canSign = (key: KnownKey): key is SigningKey => key.privateJwk !== null;

export type KeySet = ReturnType<typeof keySet>;

function keySet(known: readonly KnownKey[]) {
  const keys = known.filter(canSign);
  /** Selects the keys that were replaced less than `ms` before `now`, or not at all. */
  const keptFor = (ms: number, now: number): readonly KnownKey[] =>
    known.filter((key) => {
      const successor = known.find(({ alg, activeFrom }) => alg === key.alg && activeFrom > key.activeFrom);
      return (successor?.activeFrom ?? now) + ms > now;
    });
  return {
    /** All stored signing keys, including those without a private part. */
    known,
    /** Signing keys that still have their private part. */
    keys,
    /**
     * Returns the key that signs at `now`: of its algorithm, the one that became active last, or the first if
     * none is active yet.
     */
    signing(alg: SigningAlgorithm, now: number): SigningKey {
      const ofAlg = keys.filter((key) => key.alg === alg);
      const key = ofAlg.findLast((candidate) => candidate.activeFrom <= now) ?? ofAlg[0];
      if (key === undefined) throw new Error(`there is no ${alg} signing key`);
      return key;
    },
    /**
     * Returns the keys that relying parties need at `now`: the signing ones, future ones, and former ones
     * whose tokens may still be valid.
     */
    published: (now: number) => keptFor(retiredKeyMs, now),
    /**
     * Returns the keys with which tokens of this service are verified at `now`: the published keys, and keys
     * that were replaced within a year.
     */
    verifying: (now: number) => keptFor(verifiableMs, now),
  };
}

/**
 * Checks whether a loaded signing key still matches its stored record, whose private part may have been
 * deleted since.
 */
const isOf = (record: SigningKeyRecord, key: KnownKey): boolean =>
  key.kid === record.kid && canSign(key) === (record.sealedPrivateJwk !== null);

const sealedContext = (kid: string): string => `signing_keys/${kid}/private_jwk`;

interface Parts {
  readonly store: SigningKeyStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Keys that sign ID tokens and logout tokens. Created on first start, stored encrypted, and rotated without a
 * restart.
 */
export class SigningKeys {
  readonly #parts: Parts;
  #current: KeySet = keySet([]);
  #loadedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<KeySet> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Creates missing signing keys, decrypts all, and encrypts them with the current sealing key. @throws
   * TypeError if no sealing key can decrypt a stored key
   */
  async start(): Promise<void> {
    const { store, sealer, clock } = this.#parts;
    const stored = await store.list();
    for (const alg of signingAlgorithms) {
      if (!stored.some((key) => key.alg === alg))
        await store.insertFirst(await this.#create(alg, clock.now()));
    }
    try {
      await this.#load();
      for (const { kid, sealedPrivateJwk } of stored) {
        if (sealedPrivateJwk === null || sealer.isCurrent(sealedPrivateJwk)) continue;
        await store.reseal(kid, sealer.renew(sealedPrivateJwk, sealedContext(kid)));
      }
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      throw new TypeError(`sealingKeys: none of the given keys opens this database (${error.message})`);
    }
  }

  /**
   * Returns the signing keys, read from the database at most {@link keyRefreshMs} ago. While the database
   * cannot be read, the last keys stay in use.
   */
  async current(): Promise<KeySet> {
    const age = this.#parts.clock.now() - this.#loadedAt;
    // The age is negative after the clock went back.
    if (age >= 0 && age < keyRefreshMs) return this.#current;
    this.#loading ??= this.#load()
      .catch((error: unknown) => {
        if (this.#current.keys.length === 0) throw error;
        // Wait before reading again: otherwise every request would wait here for a database that fails
        // slowly.
        this.#loadedAt = this.#parts.clock.now();
        return this.#current;
      })
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  /**
   * Creates a signing key that replaces the current key after `activateAfterMs`, and publishes the new key at
   * once for clients that cache the key set. The method also deletes the private part of keys that are no
   * longer published, and whole keys that no longer verify anything. `also` makes the audit log entry and the
   * jobs that are stored with the key.
   */
  async rotate(
    alg: SigningAlgorithm,
    activateAfterMs: number,
    also?: (key: NewSigningKey) => { readonly audit: AuditRecord; readonly jobs: readonly NewJob[] },
  ): Promise<KnownKey> {
    const now = this.#parts.clock.now();
    const record = await this.#create(alg, now + activateAfterMs);
    const { audit, jobs } = also?.(record) ?? {};
    await this.#parts.store.insert(record, audit, jobs);
    const set = await this.#load();
    const [published, verifying] = [new Set(set.published(now)), new Set(set.verifying(now))];
    for (const key of set.known) {
      if (!verifying.has(key)) await this.#parts.store.remove(key.kid);
      else if (canSign(key) && !published.has(key)) await this.#parts.store.retire(key.kid);
    }
    await this.#load();
    return this.#open(record);
  }

  async #load(): Promise<KeySet> {
    const now = this.#parts.clock.now();
    const records = await this.#parts.store.list();
    const { known } = this.#current;
    const opened = records.map((record) => known.find((key) => isOf(record, key)) ?? this.#open(record));
    const isUnchanged = opened.length === known.length && opened.every((key, index) => key === known[index]);
    if (!isUnchanged) this.#current = keySet(opened);
    this.#loadedAt = now;
    return this.#current;
  }

  #open({ publicJwk, sealedPrivateJwk, ...rest }: SigningKeyRecord): KnownKey {
    const common = { ...rest, publicJwk: JSON.parse(publicJwk) };
    if (sealedPrivateJwk === null) return { ...common, privateJwk: null };
    const privateJwk = this.#parts.sealer.open(sealedPrivateJwk, sealedContext(rest.kid));
    return { ...common, privateJwk: JSON.parse(privateJwk) };
  }

  async #create(alg: SigningAlgorithm, activeFrom: number): Promise<NewSigningKey> {
    const pair = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 });
    const kid = this.#parts.random.bytes(12).toString('base64url');
    const common = { kid, alg, use: 'sig' };
    const privateJwk = { ...(await exportJWK(pair.privateKey)), ...common };
    return {
      kid,
      alg,
      publicJwk: JSON.stringify({ ...(await exportJWK(pair.publicKey)), ...common }),
      sealedPrivateJwk: this.#parts.sealer.seal(JSON.stringify(privateJwk), sealedContext(kid)),
      createdAt: this.#parts.clock.now(),
      activeFrom,
    };
  }
}
