import { serve, settings } from './control.ts';

/** Parameters of the raw server. */
export interface RawSettings {
  readonly port: number;
  /** An answer of Ostiary's: header names and values one after the other, and the body. */
  readonly headers: readonly string[];
  readonly body: string;
}

const { port, headers, body } = settings<RawSettings>();

// What Node itself can do with these bytes: the upper limit for anything that answers them.
serve((request, response) => {
  request.resume();
  response.writeHead(200, [...headers]);
  response.end(body);
}, port);
