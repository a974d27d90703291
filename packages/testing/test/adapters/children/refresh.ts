import { inParallel } from '../../../src/contract/case.ts';
import { refresh } from '../../../src/contract/samples.ts';
import { args, storage, whenAllAreReady } from './storage.ts';

// Uses the first refresh token of each family many times at once, and reports the results.
const [name, families, uses] = args;

await storage.open();
whenAllAreReady(async () => {
  const answers: string[][] = [];
  for (let family = 0; family < Number(families); family += 1)
    answers.push(
      await inParallel(Number(uses), (use) =>
        refresh(storage, `${family} 1`, `${family} 2`, { token: `${family} ${name} ${use}` }),
      ),
    );
  return answers;
});
