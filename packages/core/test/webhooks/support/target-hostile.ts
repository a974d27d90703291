import type { Resolve } from '../../../src/webhooks/targets.ts';

/** A target to which no connection may be made. */
export interface HostileTarget {
  readonly name: string;
  readonly url: string;
  /**
   * IP addresses of the host name, one list for each look-up; the last one is repeated. Omitted if the name
   * does not exist, or the URL has an IP address.
   */
  readonly answers?: readonly (readonly string[])[];
  /** True if only the second look-up is hostile: the registration cannot detect it, but an attempt must. */
  readonly changesLater?: true;
}

/** A public address that is returned together with a hostile one. No connection may be made to it either. */
const publicAddress = '93.184.216.34';

/** Hosts that are IP addresses, in every notation that some parsers accept. */
const literals: readonly string[] = [
  // Loopback: shortened, as one number in each base, in parts in each base, and in characters that normalize
  // to digits and dots.
  ...[
    '127.0.0.1',
    '127.8.8.8',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '0x7f.0x0.0x0.0x1',
  ],
  ...['0x7f.1', '0177.0.0.01', '0x7f.0.0.01', '127.0.0.1.', '１２７.０.０.１', '①②⑦.⓪.⓪.①', '127。0。0。1'],
  ...['127｡0｡0｡1', '%31%32%37.%30.%30.%31', '127%2e0%2e0%2e1'],
  // Unspecified, private, of carriers.
  ...['0.0.0.0', '0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '3232235777', '100.64.0.1'],
  // Metadata and other services of clouds.
  ...['100.100.100.200', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '192.0.0.192'],
  // Address of a cloud's host, benchmarks, documentation, relays, multicast, reserved, broadcast.
  ...[
    '168.63.129.16',
    '198.18.0.1',
    '203.0.113.7',
    '192.88.99.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ],
  // IPv6: loopback, unspecified, and IPv4 inside it in every form.
  ...[
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000:0000:0000:0000:0000:0000:0001]',
    '[::]',
    '[::ffff:127.0.0.1]',
  ],
  ...['[::ffff:7f00:1]', '[::ffff:169.254.169.254]', `[::ffff:${publicAddress}]`, '[::127.0.0.1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[64:ff9b:1::7f00:1]'],
  ...['[2002:7f00:1::1]', '[2002:c0a8:101::1]', '[2001:0:7f00:1::1]'],
  // IPv6: ORCHID, documentation, metadata of clouds, local, with a zone, multicast, discarded, segment
  // routing.
  ...[
    '[2001:20::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[fc00::1]',
    '[fe80::1]',
  ],
  ...['[fe80::1%25lo]', '[::1%lo]', '[fec0::1]', '[ff02::1]', '[100::1]', '[5f00::1]'],
];

/** Host names that mean this machine, no matter what a resolver returns. */
const localNames: readonly string[] = [
  ...['localhost', 'LocalHost', 'localhost.', 'hooks.localhost', 'hooks.localhost.', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
  ...['ｌｏｃａｌｈｏｓｔ', '%6cocalhost'],
];

/** Results of name resolution that lead to an internal address. */
const resolved: readonly (readonly (readonly string[])[])[] = [
  ...[
    '127.0.0.1',
    '::1',
    '10.1.2.3',
    '169.254.169.254',
    '::ffff:127.0.0.1',
    '::7f00:1',
    '64:ff9b::7f00:1',
  ].map((address) => [[address]]),
  ...['2002:7f00:1::', 'fe80::1%lo', '0.0.0.0', 'loopback', '127.0.0.1:80'].map((address) => [[address]]),
  ...[[publicAddress, '127.0.0.1'], ['127.0.0.1', publicAddress], [publicAddress, '::1'], []].map((all) => [
    all,
  ]),
  // Private at the first look-up, public at the second.
  [['127.0.0.1'], [publicAddress]],
];

/**
 * Targets that must be refused without a connection: at registration, change, test, delivery and retry.
 * @param port - port of a listener on loopback, which a broken guard would reach
 */
export function hostileTargets(port: number): readonly HostileTarget[] {
  const rebinding = (name: string, ...later: readonly string[]): HostileTarget => ({
    name,
    url: `https://rebinding.example:${port}/hook`,
    answers: [[publicAddress], later],
    changesLater: true,
  });
  const texts = [
    `http://127.0.0.1:${port}/hook`,
    `ftp://127.0.0.1:${port}/hook`,
    `https:127.0.0.1:${port}/hook`,
    `https:///127.0.0.1:${port}/hook`,
    `https:\\\\127.0.0.1:${port}/hook`,
    `https://127.0.\t0.1:${port}/hook`,
    `https://127.0.\n0.1:${port}/hook`,
    ` https://127.0.0.1:${port}/hook `,
    `https://local\u00adhost:${port}/hook`,
    `https://local\u200bhost:${port}/hook`,
    `https://user:secret@127.0.0.1:${port}/hook`,
    `https://receiver.example@127.0.0.1:${port}/hook`,
    `https://@127.0.0.1:${port}/hook`,
    `https://127.0.0.1:${port}\\@receiver.example/hook`,
    `https://127.0.0.1:${port}#@receiver.example/`,
    ...[22, 80, 0, 1023, 65536].map((wrong) => `https://receiver.example:${wrong}/hook`),
    `https://receiver.example:${port}/${'a'.repeat(2048)}`,
    ...[...literals, ...localNames].map((host) => `https://${host}:${port}/hook`),
  ];
  return [
    ...texts.map((url) => ({ name: url.slice(0, 80), url, answers: [['127.0.0.1']] })),
    ...resolved.map((answers) => ({
      name: `a name that is ${JSON.stringify(answers)}`,
      url: `https://receiver.example:${port}/hook`,
      answers,
    })),
    { name: 'a name that does not exist', url: `https://nowhere.example:${port}/hook` },
    rebinding('public at registration, loopback later', '127.0.0.1'),
    rebinding('public at registration, partly loopback later', publicAddress, '127.0.0.1'),
  ];
}

/** Creates a resolver that returns a target's addresses, and counts its calls. */
export function hostileResolver(target: HostileTarget): { readonly resolve: Resolve; asked(): number } {
  let asked = 0;
  return {
    resolve: (hostname) => {
      const answer = target.answers?.at(Math.min(asked, target.answers.length - 1));
      asked += 1;
      if (answer === undefined) return Promise.reject(new Error(`${hostname} does not exist`));
      return Promise.resolve(answer);
    },
    asked: () => asked,
  };
}
