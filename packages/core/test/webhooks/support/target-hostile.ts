import type { Resolve } from '../../../src/webhooks/targets.ts';

/** A target that must never be connected to. */
export interface HostileTarget {
  readonly name: string;
  readonly url: string;
  /**
   * What the host name means, one element for each time somebody asks; the last one stays. Absent: it does not
   * exist, unless the URL has an address.
   */
  readonly answers?: readonly (readonly string[])[];
  /** Set where only the second answer is hostile: registration cannot see it, an attempt must. */
  readonly changesLater?: true;
}

/** A public address for answers in which another one is hostile. Nobody may connect to it either. */
const publicAddress = '93.184.216.34';

/** Hosts that are addresses, in every spelling that some parser takes for one. */
const literals: readonly (readonly [name: string, host: string])[] = [
  ['loopback', '127.0.0.1'],
  ['loopback, another of its addresses', '127.8.8.8'],
  ['loopback, short', '127.1'],
  ['loopback, three parts', '127.0.1'],
  ['loopback, one decimal number', '2130706433'],
  ['loopback, one hexadecimal number', '0x7f000001'],
  ['loopback, one octal number', '017700000001'],
  ['loopback, hexadecimal parts', '0x7f.0x0.0x0.0x1'],
  ['loopback, short hexadecimal', '0x7f.1'],
  ['loopback, octal parts', '0177.0.0.01'],
  ['loopback, mixed bases', '0x7f.0.0.01'],
  ['loopback, dot at the end', '127.0.0.1.'],
  ['loopback, full-width digits', '１２７.０.０.１'],
  ['loopback, circled digits', '①②⑦.⓪.⓪.①'],
  ['loopback, ideographic dots', '127。0。0。1'],
  ['loopback, half-width ideographic dots', '127｡0｡0｡1'],
  ['loopback, percent-encoded', '%31%32%37.%30.%30.%31'],
  ['loopback, dots percent-encoded', '127%2e0%2e0%2e1'],
  ['unspecified', '0.0.0.0'],
  ['unspecified, one number', '0'],
  ['private, 10', '10.0.0.1'],
  ['private, 172', '172.16.0.1'],
  ['private, 172, last network', '172.31.255.255'],
  ['private, 192', '192.168.1.1'],
  ['private, 192, one number', '3232235777'],
  ['carrier', '100.64.0.1'],
  ['metadata of a cloud in the carrier range', '100.100.100.200'],
  ['metadata', '169.254.169.254'],
  ['metadata, one number', '2852039166'],
  ['metadata, hexadecimal', '0xa9fea9fe'],
  ['metadata, octal', '0251.0376.0251.0376'],
  ['metadata behind protocol assignments', '192.0.0.192'],
  ['host of a cloud’s virtual machines', '168.63.129.16'],
  ['benchmark', '198.18.0.1'],
  ['documentation', '203.0.113.7'],
  ['6to4 relay', '192.88.99.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['v6 loopback', '[::1]'],
  ['v6 loopback, long', '[0:0:0:0:0:0:0:1]'],
  ['v6 loopback, zeros', '[0000:0000:0000:0000:0000:0000:0000:0001]'],
  ['v6 unspecified', '[::]'],
  ['v4-mapped loopback', '[::ffff:127.0.0.1]'],
  ['v4-mapped loopback, hexadecimal', '[::ffff:7f00:1]'],
  ['v4-mapped metadata', '[::ffff:169.254.169.254]'],
  ['v4-mapped public address', `[::ffff:${publicAddress}]`],
  ['v4-compatible loopback', '[::127.0.0.1]'],
  ['v4-translated loopback', '[::ffff:0:127.0.0.1]'],
  ['NAT64 loopback', '[64:ff9b::127.0.0.1]'],
  ['NAT64 metadata', '[64:ff9b::a9fe:a9fe]'],
  ['NAT64, local prefix', '[64:ff9b:1::7f00:1]'],
  ['6to4 loopback', '[2002:7f00:1::1]'],
  ['6to4 private', '[2002:c0a8:101::1]'],
  ['Teredo', '[2001:0:7f00:1::1]'],
  ['ORCHID', '[2001:20::1]'],
  ['v6 documentation', '[2001:db8::1]'],
  ['v6 documentation, new', '[3fff::1]'],
  ['v6 metadata of a cloud', '[fd00:ec2::254]'],
  ['v6 metadata of another cloud', '[fd20:ce::254]'],
  ['unique local', '[fc00::1]'],
  ['v6 link-local', '[fe80::1]'],
  ['v6 link-local with a zone', '[fe80::1%25lo]'],
  ['v6 loopback with a zone', '[::1%lo]'],
  ['site-local', '[fec0::1]'],
  ['v6 multicast', '[ff02::1]'],
  ['discard', '[100::1]'],
  ['segment routing', '[5f00::1]'],
];

/** Names that stand for this machine whatever a resolver says. */
const localNames: readonly (readonly [name: string, host: string])[] = [
  ['localhost', 'localhost'],
  ['localhost, capitals', 'LocalHost'],
  ['localhost, dot at the end', 'localhost.'],
  ['below localhost', 'hooks.localhost'],
  ['below localhost, dot at the end', 'hooks.localhost.'],
  ['localhost in circled letters', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'],
  ['localhost in full-width letters', 'ｌｏｃａｌｈｏｓｔ'],
  ['localhost, percent-encoded', '%6cocalhost'],
];

/** What a resolver may answer. */
const resolved: readonly (readonly [name: string, ...answers: (readonly string[])[]])[] = [
  ['a name that is loopback', ['127.0.0.1']],
  ['a name that is v6 loopback', ['::1']],
  ['a name that is private', ['10.1.2.3']],
  ['a name that is the metadata address', ['169.254.169.254']],
  ['a name that is v4-mapped loopback', ['::ffff:127.0.0.1']],
  ['a name that is v4-compatible loopback', ['::7f00:1']],
  ['a name that is NAT64 loopback', ['64:ff9b::7f00:1']],
  ['a name that is 6to4 loopback', ['2002:7f00:1::']],
  ['a name that is link-local with a zone', ['fe80::1%lo']],
  ['a name that is unspecified', ['0.0.0.0']],
  ['public first, private second', [publicAddress, '127.0.0.1']],
  ['private first, public second', ['127.0.0.1', publicAddress]],
  ['public v4, v6 loopback', [publicAddress, '::1']],
  ['no address at all', []],
  ['an answer that is no address', ['loopback']],
  ['an answer with a port', ['127.0.0.1:80']],
  ['private when asked, public when asked again', ['127.0.0.1'], [publicAddress]],
];

/**
 * Targets that must be refused without a connection: at registration, change, test, delivery and retry.
 * @param port - of a listener on loopback, which a broken guard would reach
 */
export function hostileTargets(port: number): readonly HostileTarget[] {
  return [
    ...[...literals, ...localNames].map(([name, host]) => ({
      name,
      url: `https://${host}:${port}/hook`,
      answers: [['127.0.0.1']],
    })),
    ...resolved.map(([name, ...answers]) => ({
      name,
      url: `https://receiver.example:${port}/hook`,
      answers,
    })),
    { name: 'a name that does not exist', url: `https://nowhere.example:${port}/hook` },
    {
      name: 'public at registration, loopback later',
      url: `https://rebinding.example:${port}/hook`,
      answers: [[publicAddress], ['127.0.0.1']],
      changesLater: true,
    },
    {
      name: 'public at registration, partly loopback later',
      url: `https://rebinding.example:${port}/hook`,
      answers: [[publicAddress], [publicAddress, '127.0.0.1']],
      changesLater: true,
    },
    ...[
      ['plain http', `http://127.0.0.1:${port}/hook`],
      ['another scheme', `ftp://127.0.0.1:${port}/hook`],
      ['no slashes', `https:127.0.0.1:${port}/hook`],
      ['three slashes', `https:///127.0.0.1:${port}/hook`],
      ['backslashes', `https:\\\\127.0.0.1:${port}/hook`],
      ['a tab in the host', `https://127.0.\t0.1:${port}/hook`],
      ['a line break in the host', `https://127.0.\n0.1:${port}/hook`],
      ['blanks around', ` https://127.0.0.1:${port}/hook `],
      ['a soft hyphen in the name', `https://local\u00adhost:${port}/hook`],
      ['a zero-width character in the name', `https://local\u200bhost:${port}/hook`],
      ['credentials', `https://user:secret@127.0.0.1:${port}/hook`],
      ['credentials that look like the host', `https://receiver.example@127.0.0.1:${port}/hook`],
      ['an empty user', `https://@127.0.0.1:${port}/hook`],
      ['a backslash before the at sign', `https://127.0.0.1:${port}\\@receiver.example/hook`],
      ['a fragment that looks like the host', `https://127.0.0.1:${port}#@receiver.example/`],
      ['ssh’s port', 'https://receiver.example:22/hook'],
      ['http’s port', 'https://receiver.example:80/hook'],
      ['port zero', 'https://receiver.example:0/hook'],
      ['the last privileged port', 'https://receiver.example:1023/hook'],
      ['a port that is too large', 'https://receiver.example:65536/hook'],
      ['a long path', `https://receiver.example:${port}/${'a'.repeat(2048)}`],
    ].map(([name = '', url = '']) => ({ name, url, answers: [['127.0.0.1']] })),
  ];
}

/** A resolver that gives a target's answers, and counts how often it was asked. */
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
