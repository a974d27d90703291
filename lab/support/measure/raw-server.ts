import { serve, settings } from '../processes/control.ts';

/** A response of Ostiary that the raw server repeats: header names and values in turn, and the body. */
export interface RawSettings {
  readonly headers: readonly string[];
  readonly body: string;
}

const { headers, body } = settings<RawSettings>();

// Sends the same bytes for every request: the upper limit for any server on Node that sends them.
await serve((request, response) => {
  request.resume();
  response.writeHead(200, [...headers]);
  response.end(body);
});
