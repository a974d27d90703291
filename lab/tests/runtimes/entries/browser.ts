import * as main from '@ostiary/webhook-verifier';
import * as dedupe from '@ostiary/webhook-verifier/dedupe';
import * as fetch from '@ostiary/webhook-verifier/fetch';
import { run } from '../runner.ts';

Object.assign(globalThis, { report: run({ main, fetch, dedupe, overHttp: null }) });
