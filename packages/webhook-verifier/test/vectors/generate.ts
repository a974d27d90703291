/** Writes `vectors.json` of the package. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vectorsFile } from './cases.ts';

writeFileSync(join(import.meta.dirname, '../../vectors.json'), vectorsFile());
