import { loadConfig } from './config.ts';
import { closeOnSignals, failToStart } from './lifecycle.ts';
import { startReferenceServer } from './server.ts';

// What this process writes (the database, its WAL) is for its own user only.
process.umask(0o077);

try {
  const server = await startReferenceServer(loadConfig(process.env));
  closeOnSignals(() => server.close());
} catch (error) {
  failToStart(error);
}
