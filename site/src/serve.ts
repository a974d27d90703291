/** Serves the built site: `node src/serve.ts [URL of a service whose partner API can be tried]`. */
import { startSite } from './server.ts';

const [service] = process.argv.slice(2);
console.log(await startSite({ port: 4173, service }));
