import { describe, it } from 'vitest';
import * as verifier from '../../src/index.ts';
import { vectors } from '../vectors/vectors.ts';
import { casesOf } from './cases.ts';

describe('every runtime', () => {
  it.each(casesOf(verifier, vectors))('$name', ({ run }) => run());
});
