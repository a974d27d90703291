import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const core = join(import.meta.dirname, '../../../packages/core');

/** Rooms of core whose source files have a test of their name: `payments/settle.ts` has `test/payments/settle.test.ts`. */
const rooms = ['oauth', 'partner', 'payments', 'webhooks', 'admin'];

/**
 * Source files without a test of their name: types, tables and schemas, and steps of an answer that the test of another file
 * shows. The path of that test starts at the package.
 */
const shownBy: { readonly [source: string]: string } = {
  'oauth/client': 'core/test/oauth/client-authentication.test.ts',
  'oauth/connected-notice': 'core/test/notices/notices.test.ts',
  'oauth/endpoints': 'core/test/oauth/discovery.test.ts',
  'oauth/lifetimes': 'core/test/oauth/token.test.ts',
  'partner/console-calls': 'core/test/partner/console-backend.test.ts',
  'partner/console-routes': 'core/test/partner/console-backend.test.ts',
  'partner/console-settings': 'console/test/sessions.test.ts',
  'partner/create-partner': 'core/test/partner/partner-api.test.ts',
  'partner/inbox-schemas': 'core/test/partner/handlers/inbox.test.ts',
  'partner/openapi/responses': 'core/test/partner/openapi/document.test.ts',
  'partner/openapi/examples': 'core/test/partner/openapi/document.test.ts',
  'partner/openapi/json-schema': 'core/test/partner/openapi/document.test.ts',
  'partner/pipeline/caller': 'core/test/partner/pipeline/key.test.ts',
  'partner/portal-backend': 'console/test/portal.test.ts',
  'partner/reconciliation-schema': 'core/test/partner/handlers/reconciliation.test.ts',
  'partner/refused-count': 'core/test/partner/handlers/workbench.test.ts',
  'partner/request': 'core/test/partner/pipeline/pipeline.test.ts',
  'partner/routes': 'core/test/partner/contract.test.ts',
  'partner/schemas': 'core/test/partner/contract.test.ts',
  'partner/shown-user': 'core/test/partner/handlers/users.test.ts',
  'partner/webhook-schemas': 'core/test/partner/handlers/webhooks.test.ts',
  'payments/final-event': 'core/test/partner/handlers/workbench.test.ts',
  'payments/transfer-view': 'core/test/partner/handlers/payments.test.ts',
  'webhooks/attempt-answer': 'core/test/webhooks/exchange.test.ts',
  'webhooks/attempt-errors': 'core/test/webhooks/exchange.test.ts',
  'webhooks/create-webhooks': 'core/test/partner/handlers/webhooks.test.ts',
  'webhooks/delivery-state': 'core/test/partner/handlers/webhooks.deliveries.test.ts',
  'webhooks/inbox-url': 'core/test/webhooks/inbox.test.ts',
  'webhooks/interim-answers': 'core/test/webhooks/exchange.test.ts',
  'webhooks/lookups': 'core/test/webhooks/http-client.test.ts',
  'webhooks/obstacles': 'console/test/obstacles.test.ts',
  'webhooks/outgoing': 'core/test/webhooks/publish.test.ts',
  'webhooks/running': 'core/test/webhooks/dispatcher.test.ts',
  'webhooks/sent-headers': 'core/test/webhooks/http-client.test.ts',
  'webhooks/signing': 'core/test/webhooks/attempt.test.ts',
  'webhooks/views': 'core/test/partner/handlers/webhooks.test.ts',
  'webhooks/writing': 'core/test/webhooks/dispatcher.batches.test.ts',
  'admin/checked': 'core/test/admin/administration.test.ts',
  'admin/client-creation': 'core/test/admin/clients.test.ts',
  'admin/client-profile': 'core/test/oauth/fapi2.test.ts',
  'admin/list-page': 'console/test/operators-everywhere.test.ts',
  'admin/png-pixels': 'core/test/admin/png.test.ts',
  'admin/portal': 'console/test/portal.test.ts',
  'admin/webhook-lists': 'console/test/operators-everywhere.test.ts',
};

it('each source file of these rooms has a test of its name, or is shown by the test of another file', () => {
  const sources = globSync(`{${rooms.join()}}/**/*.ts`, { cwd: join(core, 'src') }).map((file) =>
    file.replace(/\.ts$/, ''),
  );
  const tested = new Set(
    globSync('**/*.test.ts', { cwd: join(core, 'test') }).map((file) =>
      file.replace(/(\.[\w-]+)?\.test\.ts$/, ''),
    ),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((source) => !tested.has(source)).toSorted()).toEqual(Object.keys(shownBy).toSorted());
  for (const test of Object.values(shownBy))
    expect([test, existsSync(join(core, '..', test))]).toEqual([test, true]);
});
