import { inParallel } from '../../../src/contract/case.ts';
import { redeem, sampleGrant, sampleToken } from '../../../src/contract/samples.ts';
import { args, storage, whenAllAreReady } from './storage.ts';

// Exchanges every code of a list, several at once, and reports the results.
const [name, count] = args;

await storage.open();
whenAllAreReady(async () => {
  const answers: string[] = [];
  for (let code = 0; code < Number(count); code += 5) {
    const group = await inParallel(5, (offset) =>
      redeem(storage, sampleGrant(`${code + offset}`), sampleToken(`${code + offset} ${name}`)),
    );
    answers.push(...group);
  }
  return answers;
});
