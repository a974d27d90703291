import { inParallel } from '../../../testing/src/contract/case.ts';
import { create, sampleClaim, sampleTransfer } from '../../../testing/src/contract/partner-samples.ts';
import { args, storage, whenAllAreReady } from '../../../testing/test/adapters/children/storage.ts';

// Makes a transfer per idempotency key, several at once, and reports the results.
const [name, count] = args;

await storage.open();
whenAllAreReady(async () => {
  const answers: object[] = [];
  for (let from = 0; from < Number(count); from += 5) {
    const group = await inParallel(5, (offset) => {
      const number = from + offset;
      const transfer = sampleTransfer(`${number}_${name}`, { reference: `order ${number}` });
      const answer = { status: 201, body: transfer.id };
      return create(storage, transfer, sampleClaim(`key ${number}`, { answer }));
    });
    answers.push(...group);
  }
  return answers;
});
