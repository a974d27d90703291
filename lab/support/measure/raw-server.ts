import { serve, settings } from '../processes/control.ts';

/** Response of Ostiary: header names and values one after the other, and the body. */
export interface RawSettings {
  readonly headers: readonly string[];
  readonly body: string;
}

const { headers, body } = settings<RawSettings>();

// Measures Node itself with these bytes: the upper limit for any server that sends them.
await serve((request, response) => {
  request.resume();
  response.writeHead(200, [...headers]);
  response.end(body);
});
