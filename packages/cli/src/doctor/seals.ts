import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { sealIdOf } from './key-proofs.ts';
import { countedAtMost, countSecrets } from './readings.ts';

const { ok, warning, problem } = findingsOf('secrets');

const said = (count: number): string => {
  const number = count < countedAtMost ? `${count}` : `${countedAtMost} or more`;
  return count === 1 ? '1 secret is' : `${number} secrets are`;
};

/** Whether a sealing key is still needed that is not the first one. */
export async function checkSeals({ settings, database, now }: Examined): Promise<readonly Finding[]> {
  const [current = '', ...previous] = settings.sealingKeys.map(sealIdOf);
  let waiting = 0;
  let lost = 0;
  const strange: string[] = [];
  for (const { seal, count } of await countSecrets(database, current, now())) {
    if (previous.includes(seal)) waiting += count;
    else {
      lost += count;
      strange.push(seal);
    }
  }
  const found: Finding[] = [];
  if (lost > 0) {
    found.push(
      problem(
        `${said(lost)} sealed with a key that is not in {sealingKeys} (${strange.join(', ')})`,
        'Webhooks of those endpoints wait, and signatures under those API keys cannot be checked.',
        'Put that key back, behind the others, in every process.',
      ),
    );
  }
  if (waiting > 0) {
    found.push(
      warning(
        `${said(waiting)} sealed with a previous key`,
        'Who removes that key loses them.',
        'Keep it until this line is gone: workers seal everything anew soon after a start, and every ten minutes.',
      ),
    );
  }
  return found.length > 0 ? found : [ok(`all are sealed with the first sealing key (${current})`)];
}
