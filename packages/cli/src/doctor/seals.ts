import type { Examined, SealedCount } from './examined.ts';
import { type CheckResult, problem, sound, warning } from './finding.ts';
import { sealIdOf } from './key-proofs.ts';
import { countedAtMost, countSecrets } from './readings.ts';

function said(counts: readonly SealedCount[]): string {
  const sum = counts.reduce((all, { count }) => all + count, 0);
  if (sum === 1) return '1 secret is';
  return `${sum < countedAtMost ? sum : `${countedAtMost} or more`} secrets are`;
}

/**
 * Checks whether a sealing key other than the first is still needed to decrypt stored secrets, and whether
 * such a key is missing in the settings.
 */
export async function* checkSeals(examined: Examined): AsyncGenerator<CheckResult> {
  const { settings, database, now } = examined;
  const [current = '', ...previous] = settings.sealingKeys.map(sealIdOf);
  yield sound(`all are sealed with the first sealing key (${current})`);
  const ofHost = (await examined.countHostSecrets?.()) ?? [];
  const counts = [
    ...(await countSecrets(database, current, now())),
    ...ofHost.filter(({ seal }) => seal !== current),
  ];
  const lost = counts.filter(({ seal }) => !previous.includes(seal));
  if (lost.length > 0) {
    const strange = [...new Set(lost.map(({ seal }) => seal))].join(', ');
    yield problem(
      `${said(lost)} sealed with a key that is not in {sealingKeys} (${strange})`,
      'Webhooks of those endpoints wait, signatures under those API keys cannot be checked, and secrets of the server itself cannot be read.',
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
