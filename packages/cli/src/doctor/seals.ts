import type { Examined } from './examined.ts';
import { type CheckResult, problem, sound, warning } from './finding.ts';
import { sealIdOf } from './key-proofs.ts';
import { countedAtMost, countSecrets, type SealedCount } from './readings.ts';

function said(counts: readonly SealedCount[]): string {
  const sum = counts.reduce((all, { count }) => all + count, 0);
  if (sum === 1) return '1 secret is';
  return `${sum < countedAtMost ? sum : `${countedAtMost} or more`} secrets are`;
}

/**
 * Checks whether a sealing key other than the first is still needed to decrypt stored secrets, and whether
 * such a key is missing in the settings.
 */
export async function* checkSeals({ settings, database, now }: Examined): AsyncGenerator<CheckResult> {
  const [current = '', ...previous] = settings.sealingKeys.map(sealIdOf);
  yield sound(`all are sealed with the first sealing key (${current})`);
  const counts = await countSecrets(database, current, now());
  const lost = counts.filter(({ seal }) => !previous.includes(seal));
  if (lost.length > 0) {
    const strange = lost.map(({ seal }) => seal).join(', ');
    yield problem(
      `${said(lost)} sealed with a key that is not in {sealingKeys} (${strange})`,
      'Webhooks of those endpoints wait, and signatures under those API keys cannot be checked.',
      'Add that key again, after the others, in every process.',
    );
  }
  const waiting = counts.filter(({ seal }) => previous.includes(seal));
  if (waiting.length > 0) {
    yield warning(
      `${said(waiting)} sealed with a previous key`,
      'Removing that key loses them.',
      'Keep it until this line is gone: workers reseal everything soon after a start, and every ten minutes.',
    );
  }
}
