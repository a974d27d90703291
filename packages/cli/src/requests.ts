import type { ApiRequest } from '@ostiary/core/admin';
import { type Commands, NotFoundError, pageFlags, pageOf, table, toggle } from './command.ts';
import { emptyOrList, listOf } from './lists.ts';
import { modeFlag, ownerOf } from './webhooks.ts';

const rowOf = ({ id, method, route, status, code, durationMs, createdAt }: ApiRequest): string[] => [
  ...[id, `${method} ${route}`, String(status), code ?? ''],
  ...[`${durationMs} ms`, createdAt],
];

/** Commands that read the log of requests to the partner API. */
export const requestCommands: Commands = {
  'requests list': {
    about: 'the requests of a partner to the API, newest first',
    example: 'kafe --mode test --failed',
    flags: { ...modeFlag, ...pageFlags, failed: toggle('only those that failed') },
    positionals: ['partner'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const failed = args.has('failed');
      const page = pageOf(args);
      const { requests, next } = await admin.requests.list(owner, { ...page, failed });
      const heads = ['REQUEST', 'WHAT', 'STATUS', 'CODE', 'TOOK', 'AT'];
      const text = await emptyOrList({
        ...{ owner, what: 'requests in the log', isFiltered: failed || page.after !== undefined },
        text: requests.length === 0 ? null : listOf(heads, requests.map(rowOf), next),
        countIn: async (other) => (await admin.requests.list(other)).requests.length,
      });
      return { text, json: { requests, next } };
    },
  },

  'requests show': {
    about: 'a request to the API, without its bodies',
    example: 'kafe 5b1f0c9e-7d3a-4826-9f00-0c9e7d3a4826 --mode test',
    flags: modeFlag,
    positionals: ['partner', 'request id'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const [, id = ''] = args.positionals;
      const request = await admin.requests.get(owner, id);
      if (request === null)
        throw new NotFoundError('request_not_found', `there is no ${owner.mode} request ${id} in the log`);
      const { method, route, status, code, durationMs, keyId, createdAt } = request;
      const rows = [
        ['request', `${method} ${route}`],
        ['answer', code === null ? String(status) : `${status} ${code}`],
        ['took', `${durationMs} ms`],
        ['key', keyId],
        ['at', createdAt],
      ];
      return { text: table(rows), json: { request } };
    },
  },
};
