import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterwards } from '../../support/running.ts';

/** Addresses by record type; a type that is missing is never answered. */
export interface NameServerRecords {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
}

/** A name server that gives every name the same addresses. */
export interface NameServer {
  readonly address: string;
  /** What was asked: name and record type. */
  readonly questions: readonly string[];
}

/** The bytes of an address; groups of zeros must be written as `::` once at most. */
function addressBytes(address: string): Buffer {
  if (address.includes('.')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const hex = [...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join('');
  return Buffer.from(hex, 'hex');
}

/** Name, type and end of the only question of a message (RFC 1035, section 4.1.2). */
function questionOf(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** Starts a name server on loopback; it is closed after the test. */
export async function startNameServer(records: NameServerRecords): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, type, end } = questionOf(message);
    const kind = type === 1 ? 'A' : 'AAAA';
    questions.push(`${name.toLowerCase()} ${kind}`);
    const addresses = records[kind];
    if (addresses === undefined) return;
    const header = Buffer.alloc(12);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const answers = addresses.map((text) => {
      const bytes = addressBytes(text);
      const fixed = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length]);
      return Buffer.concat([fixed, bytes]);
    });
    socket.send(Buffer.concat([header, message.subarray(12, end), ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  afterwards(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}
