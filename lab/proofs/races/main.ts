/**
 * Proof: concurrent requests to several processes on one PostgreSQL have the right results. See ../README.md.
 */
import { numbersFrom } from '../../support/arguments.ts';
import { endProof } from '../../support/proof.ts';
import { prove } from './prove.ts';

const size = numbersFrom({ runs: 20, redemptions: 200, repetitions: 100, requests: 200, deliveries: 10_000 });
console.log('two web processes and four workers on one PostgreSQL\n');
endProof(await prove({ ...size, fsync: true }));
