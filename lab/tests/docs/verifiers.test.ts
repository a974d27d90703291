import { expect, it } from 'vitest';
import { vectors } from '../../../packages/webhook-verifier/test/vectors/vectors.ts';
import { blocksOf, textOf } from './support/pages.ts';
import { languages, NotHere, verdictsOf } from './verifiers/languages.ts';

const page = 'docs/webhook-verifier-languages.md';
const contract = vectors.filter(({ kind }) => kind === 'contract');

it('the verifiers of the documentation are one for each language, below six rules', () => {
  const text = textOf(page);
  const rules = text.slice(text.indexOf('## The six rules'), text.indexOf('## Python'));
  expect(Array.from(rules.matchAll(/^(\d)\. /gm), ([, number]) => number)).toEqual([...'123456']);
  for (const { name } of languages) expect(blocksOf(page, name.toLowerCase()), name).toHaveLength(1);
});

for (const language of languages) {
  it(`decide every vector of the contract in ${language.name}`, async ({ skip }) => {
    let verdicts: readonly string[];
    try {
      verdicts = await verdictsOf(language, page, contract);
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      // Vitest does not report the reason if a file passes.
      console.log(`The verifier in ${language.name} was not run: ${error.message}.`);
      return skip(error.message);
    }
    const decided = contract.map(({ name }, index) => [name, verdicts[index]]);
    const expected = contract.map(({ name, expected }) => [
      name,
      expected.valid ? `accepted ${expected.id}` : 'refused',
    ]);
    expect(decided).toEqual(expected);
  }, 120_000);
}
