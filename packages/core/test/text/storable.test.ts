import { expect, it } from 'vitest';
import { isUnstorable } from '../../src/text/storable.ts';

it('detects texts that cannot be stored', () => {
  expect(['a\0', '\ud800', 'x\udfff'].map(isUnstorable)).toEqual([true, true, true]);
  expect(['', 'é🙂', '\u0001'].map(isUnstorable)).toEqual([false, false, false]);
});
