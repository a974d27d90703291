import { createOstiary } from '../../../../core/src/index.ts';
import { args, storage } from './storage.ts';

// Opens a provider with `notify` and, as the third argument says, rotates a signing key and waits to be killed, or
// runs a worker that reports each notice and, if it is to hang, never ends with it.
const [sealingKey = '', work = '', aheadMs = '0'] = args;

const ostiary = await createOstiary({
  authUrl: 'https://id.example',
  ...{ storage, sealingKeys: [sealingKey] },
  users: { find: () => null },
  login: { authenticate: () => null, loginUrl: () => '/login' },
  clock: { now: () => Date.now() + Number(aheadMs) },
  notify({ id }) {
    process.send?.(id);
    return work === 'hang' ? new Promise(() => undefined) : undefined;
  },
});

process.once('message', async () => {
  if (work === 'rotate') process.send?.((await ostiary.admin.signingKeys.rotate({ alg: 'ES256' })).kid);
  else ostiary.worker.start();
  process.once('message', async () => {
    await ostiary.close();
    process.disconnect();
  });
});
process.send?.('ready');
