import process from 'node:process';
import * as main from '@ostiary/client-sdk';
import * as oauth from '@ostiary/client-sdk/oauth';
import * as reconciliation from '@ostiary/client-sdk/reconciliation';
import { smoke } from '../sdk-smoke.ts';

console.log(JSON.stringify(await smoke(main, oauth, reconciliation, JSON.parse(process.argv[2] ?? '{}'))));
