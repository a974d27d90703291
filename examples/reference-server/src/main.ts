import { placeOfProcess, startProcesses } from './cluster.ts';
import { loadConfig } from './config.ts';
import { closeOnSignals, failToStart, obeyPrimary } from './lifecycle.ts';
import { startReferenceServer } from './server.ts';

// Make files that this process writes, such as the database and its WAL, accessible to its own user only.
process.umask(0o077);

try {
  const config = loadConfig(process.env);
  if (config.processes > 1) {
    const processes = await startProcesses(config);
    closeOnSignals(() => processes.close());
  } else {
    const place = placeOfProcess();
    const server = await startReferenceServer(config, { place });
    if (place === undefined) closeOnSignals(() => server.close());
    else obeyPrimary(server);
  }
} catch (error) {
  failToStart(error);
}
