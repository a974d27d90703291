import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { reasonOf } from './ask.ts';
import type { Examined } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { endpointUrls } from './readings.ts';

const { ok, warning, problem } = findingsOf('egress');

const triedAtMost = 5;

/** As the worker finds hosts: by name servers, without the hosts file. */
async function addressOf(host: string): Promise<string> {
  if (isIP(host) !== 0) return host;
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const [address] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (address === undefined) throw new Error('no name server knows it');
  return address;
}

/** Connects, and says nothing. What certificate there is is the receiver's business. */
async function reach(url: URL): Promise<void> {
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const host = await addressOf(hostname);
  const name = isIP(hostname) === 0 ? { servername: hostname } : {};
  await new Promise<void>((resolve, reject) => {
    const port = Number(url.port || 443);
    const socket = connect({ host, port, ...name, rejectUnauthorized: false, timeout: 5_000 });
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => socket.destroy(new Error('no answer within 5 s')));
    socket.once('error', reject);
  });
}

/** Endpoints of different hosts. Only https is tried: plain http is for receivers on the same machine. */
function targetsOf(urls: readonly URL[]): readonly URL[] {
  const https = urls.filter(({ protocol }) => protocol === 'https:');
  return [...new Map(https.map((url) => [url.host, url])).values()].slice(0, triedAtMost);
}

/**
 * Whether webhooks can leave this machine: names are found and connections can be made to `asked`, or else to endpoints of
 * partners, which see a connection and no request.
 */
export async function checkEgress(examined: Examined, asked: string | null): Promise<readonly Finding[]> {
  const urls = asked === null ? await endpointUrls(examined.database, 100) : [asked];
  const targets = targetsOf(urls.map((url) => new URL(url)));
  if (targets.length === 0) {
    const none =
      urls.length === 0 ? 'no partner has an endpoint' : 'no https endpoint, partners have only http ones';
    return [ok(`not tried: ${none} (--egress https://… tries one)`)];
  }
  const results = await Promise.all(
    targets.map((url) =>
      reach(url).then(
        () => null,
        (error: unknown) => `${url.host} (${reasonOf(error)})`,
      ),
    ),
  );
  const failed = results.filter((result) => result !== null);
  if (failed.length === 0)
    return [ok(`${targets.length} of ${targets.length} hosts can be reached from here`)];
  const complain = failed.length === targets.length ? problem : warning;
  return [
    complain(
      `cannot be reached from here: ${failed.join(', ')}`,
      'Webhooks do not arrive there, if the workers run on a machine like this one.',
      'Let workers ask name servers and connect to the internet, port 443 and above 1023; or ask the partner.',
    ),
  ];
}
