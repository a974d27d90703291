import { serve } from '../../../support/processes/control.ts';
import { operations } from '../fixture.ts';

const answers = new Map(
  Object.values(operations).map(({ method, path, status = 200, answer }) => {
    const body = Buffer.from(JSON.stringify(answer));
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': body.length,
      'Cache-Control': 'no-store',
      'X-Request-Id': '0d5f8d5e-6d1c-4f1e-9f7b-3a0f5d1c2b3a',
      'X-RateLimit-Limit': '200',
      'X-RateLimit-Remaining': '199',
      'X-RateLimit-Reset': '1769853660',
    };
    return [`${method} ${path}`, { status, headers, body }];
  }),
);

// Responses of the API without the work behind them, because the clients alone are measured.
await serve((request, response) => {
  request.resume();
  const known = answers.get(`${request.method} ${request.url}`);
  if (known === undefined) return response.writeHead(404).end();
  request.once('end', () => response.writeHead(known.status, known.headers).end(known.body));
});
