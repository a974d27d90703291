// An endpoint that reads what it gets and says yes, as fast as node:http can.
import { serve, settings } from '../../../support/measure/control.ts';

let received = 0;
let bytes = 0;

serve(
  (request, response) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length;
    });
    request.on('end', () => {
      received += 1;
      response.writeHead(204).end();
    });
  },
  settings<{ readonly port: number }>().port,
  {
    /** What came since the last time. */
    take() {
      const taken = { received, bytes };
      received = 0;
      bytes = 0;
      return taken;
    },
  },
);
