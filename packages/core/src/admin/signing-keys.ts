import { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import { type KnownKey, signingAlgorithms } from '../keys/signing-keys.ts';
import { noticeJobs } from '../notices/job.ts';
import type { Core } from '../options/context.ts';
import type { SigningAlgorithm } from '../ports/clients.ts';
import type { Notice } from '../ports/notices.ts';
import type { NewSigningKey } from '../ports/signing-keys.ts';
import { iso } from '../time/clock.ts';
import { checked } from './checked.ts';

/** A signing key as administrators see it. Times are ISO 8601. */
export interface SigningKeyInfo {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly createdAt: string;
  /** Time from which the key signs ID tokens, ISO 8601. */
  readonly activeFrom: string;
  /** True if the key signs ID tokens now. There is one such key for each algorithm. */
  readonly signing: boolean;
}

/** Lists and rotates the keys that sign ID tokens and logout tokens. */
export interface SigningKeyAdministration {
  /** Lists the published signing keys. */
  list(): Promise<readonly SigningKeyInfo[]>;
  /**
   * Creates a signing key that will replace the current one of its algorithm. It is published at once but
   * signs only after a delay, so that relying parties which cache the key set know the key by then. The old
   * key stays published for a day after that, and sign-out accepts its ID tokens as a hint for a year. No
   * process needs a restart.
   * @throws TypeError if an argument is invalid
   */
  rotate(options?: {
    /** Algorithm of the new signing key. @defaultValue `"RS256"` */
    readonly alg?: SigningAlgorithm;
    /** Seconds until the new signing key signs, up to 30 days; 0 for an emergency. @defaultValue 600 */
    readonly activateAfterSeconds?: number;
  }): Promise<SigningKeyInfo>;
}

const rotation = z.strictObject({
  alg: z.enum(signingAlgorithms).default('RS256'),
  activateAfterSeconds: z.int().min(0).max(2_592_000).default(600),
});

function rotatedNotice({ kid, alg, createdAt, activeFrom }: NewSigningKey): Notice {
  return {
    id: `signing_key.rotated:${kid}`,
    type: 'signing_key.rotated',
    at: iso(createdAt),
    ...{ partner: null, partnerName: null, mode: null },
    ...{ kid, alg, activeFrom: iso(activeFrom) },
  };
}

export function signingKeyAdministration(core: Core, act: Act): SigningKeyAdministration {
  const { signingKeys, clock, notifyWorkers } = core;
  const shown = (key: KnownKey, signing: boolean): SigningKeyInfo => ({
    kid: key.kid,
    alg: key.alg,
    createdAt: iso(key.createdAt),
    activeFrom: iso(key.activeFrom),
    signing,
  });

  return {
    async list() {
      const set = await signingKeys.current();
      const now = clock.now();
      const signing = new Set(signingAlgorithms.map((alg) => set.signing(alg, now).kid));
      return set.published(now).map((key) => shown(key, signing.has(key.kid)));
    },
    async rotate(options = {}) {
      const { alg, activateAfterSeconds } = checked(rotation, options);
      const key = await signingKeys.rotate(alg, activateAfterSeconds * 1000, (added) => ({
        audit: act('signing_key.rotate', `signing_key:${added.kid}`, { alg, activateAfterSeconds }),
        jobs: noticeJobs(core, rotatedNotice(added)),
      }));
      if (core.options.notify !== undefined) notifyWorkers('jobs');
      return shown(key, activateAfterSeconds === 0);
    },
  };
}
