import * as http from 'node:http';
import * as main from '@ostiary/webhook-verifier';
import * as dedupe from '@ostiary/webhook-verifier/dedupe';
import * as express from '@ostiary/webhook-verifier/express';
import '@ostiary/webhook-verifier/fastify';
import * as fetch from '@ostiary/webhook-verifier/fetch';
import '@ostiary/webhook-verifier/hono';
import '@ostiary/webhook-verifier/koa';
import '@ostiary/webhook-verifier/next';
import { nodeDelivery, run } from '../runner.ts';

console.log(
  JSON.stringify(await run({ main, fetch, dedupe, overHttp: () => nodeDelivery(main, express, http) })),
);
