import type { ListPosition } from '../ports/lists.ts';
import type { Mode } from '../ports/partners.ts';
import type { Signer } from '../signer.ts';

/** Whose list it is. */
export interface ListOwner {
  readonly partner: string;
  readonly mode: Mode;
  /** Which one, where an owner has several lists of a kind. */
  readonly list?: string;
}

/** Cursors that say where a list goes on, good for their owner only. */
export type Cursors = ReturnType<typeof createCursors>;

export function createCursors(signer: Signer) {
  const parts = ({ partner, mode, list }: ListOwner, position: string): string[] => [
    partner,
    mode,
    position,
    ...(list === undefined ? [] : [list]),
  ];

  return {
    write(owner: ListOwner, { time, id }: ListPosition): string {
      const position = `${time.toString(36)}.${id}`;
      return Buffer.from(`${position}.${signer.sign(...parts(owner, position))}`).toString('base64url');
    },
    /** `null` for anything that this service did not write for this owner. */
    read(owner: ListOwner, cursor: string): ListPosition | null {
      const text = Buffer.from(cursor, 'base64url').toString('latin1');
      const [, time = '', id = '', proof = ''] = /^([0-9a-z]+)\.([^.]+)\.([^.]+)$/.exec(text) ?? [];
      // Decoding is lenient: one cursor has one spelling.
      if (Buffer.from(text, 'latin1').toString('base64url') !== cursor) return null;
      if (!signer.isGenuine(proof, ...parts(owner, `${time}.${id}`))) return null;
      return { time: Number.parseInt(time, 36), id };
    },
  };
}
